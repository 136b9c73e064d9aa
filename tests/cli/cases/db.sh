# Questions to databases: their SQL, help, and mistakes. tests/db compares answers.
show db --sql top --pid 7 --tid 8 --comm prog --time 1.5,2 -t 10us -s max -n 20
show db --sql graph -D 3
show db --sql tree --depth 4 --time ,2.000000001
show db --sql slow main
show db --sql between "f(int)" 'g"h'
show db --sql branches main --time 3,
show db --help
show db -i none.db top
show db branches
