# SPDX-License-Identifier: MIT
# Completion of the sonde command for fish: commands, options and the words of --sort and -F, as `sonde --help` and
# `sonde COMMAND --help` list them.

function __sonde_words
    commandline -opc
end

function __sonde_has_command
    test (count (__sonde_words)) -gt 1
end

# Commands with their help.
function __sonde_commands
    set -l words (__sonde_words)
    $words[1] --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)' '$1\t$2'
end

# Long options of the command, with the help that is on the same line.
function __sonde_options
    set -l words (__sonde_words)
    $words[1] $words[2] --help 2>/dev/null | string replace -rf '^ {2,6}(-., )?(--[a-z][a-z-]*)(\[?[= ][^ ]*)? *(.*)' '$2\t$4'
end

# Fields of the command, after those of the list that are complete.
function __sonde_fields
    set -l words (__sonde_words)
    set -l head (commandline -ct | string replace -r '^(--[a-z]+=|-[sF])' '' | string replace -rf '^(.*[,+:-])?[^,+:-]*$' '$1')
    for line in ($words[1] $words[2] --help 2>/dev/null | string match -r '^  [a-z][a-z_-]*(?:, [a-z_]+)?  .*')
        set -l parts (string match -r '^  ([a-z][a-z_-]*)(?:, ([a-z_]+))? +(.*)' -- $line)
        printf '%s%s\t%s\n' "$head" $parts[2] $parts[-1]
        if test (count $parts) -gt 3
            printf '%s%s\t%s\n' "$head" $parts[3] $parts[-1]
        end
    end
end

# Values of the option before the word, or in it: events, or those of the option's table.
function __sonde_values
    set -l words (__sonde_words)
    set -l current (commandline -ct)
    set -l option $words[-1]
    set -l head ''
    if string match -q -- '--*=*' $current
        set option (string replace -r '=.*' '' -- $current)
        set head $option=
    end
    set -l list (string replace -r '^--[a-z-]+=' '' -- $current | string replace -rf '^(.*,)[^,]*$' '$1')
    set head "$head$list"
    switch "$words[2]:$option"
        case record:-e record:--event stat:-e stat:--event
            printf '%s\n' $head($words[1] list --raw-dump 2>/dev/null | string split -n ' ')
        case '*:--switch-on' '*:--switch-off'
            printf '%s\n' $head($words[1] evlist 2>/dev/null)
        case '*:-*'
            printf '%s\n' $head($words[1] $words[2] --list-values $option 2>/dev/null)
    end
end

complete -c sonde -n '__sonde_has_command' -a '(__sonde_values)'
complete -c sonde -n 'not __sonde_has_command' -f -a '(__sonde_commands)'
complete -c sonde -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__sonde_options)'
complete -c sonde -n 'contains -- (__sonde_words)[2] report' -s s -l sort -x -a '(__sonde_fields)'
complete -c sonde -n 'contains -- (__sonde_words)[2] report script' -s F -l fields -x -a '(__sonde_fields)'
