#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a flame graph page without a browser: check_html.py PAGE.html [SAMPLES]

The page stands alone (no URL), nothing of its data can end the script element, the JSON is well
formed, and the tree's sums are right. SAMPLES: how many samples the event must have. With SONDE and
a recording, `check_html.py --jobs SONDE perf.data` checks that any number of workers gives the same
page. Prints TAP.
"""
import html.parser
import json
import re
import subprocess
import sys
import tempfile

KINDS = 5  # root, command, user, kernel, no symbol
MAX_CODE = 60 * 1024


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, what):
        self.count += 1
        self.failed += not good
        print('%sok %d - %s' % ('' if good else 'not ', self.count, what))

    def done(self):
        print('1..%d' % self.count)
        return 1 if self.failed else 0


class Page(html.parser.HTMLParser):
    """Collects scripts and everything that could load something."""

    def __init__(self):
        super().__init__()
        self.scripts = []
        self.loads = []
        self.inside = None
        self.elements = []
        self.comments = 0
        self.title = ''

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.inside = tag
        if tag == 'script':
            self.scripts.append([dict(attrs), ''])
        for name, value in attrs:
            if name in ('src', 'href', 'data', 'action', 'srcset') and value != 'data:,':
                self.loads.append((tag, name, value))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_comment(self, data):
        self.comments += 1

    def handle_data(self, data):
        if self.inside == 'script':
            self.scripts[-1][1] += data
        elif self.inside == 'title':
            self.title += data


def find_data(page):
    for attrs, text in page.scripts:
        if attrs.get('id') == 'data':
            return text
    return ''


def check_page(tap, raw):
    text = raw.decode('utf-8', 'surrogateescape')
    some = text != ''
    tap.ok(some and not re.search('[\udc80-\udcff]', text), 'the page is valid UTF-8')
    page = Page()
    page.feed(text)
    page.close()
    tap.ok(len(page.scripts) == 2, 'two script elements: data and code')
    tap.ok(page.elements.count('html') == 1 and page.elements[-1] == 'script',
           'nothing that the data says became an element')
    tap.ok(some and page.comments == 0, 'no comment')
    tap.ok(some and page.loads == [], 'no element loads anything')
    tap.ok("default-src 'none'" in text, 'the page forbids itself to load anything')
    data = find_data(page)
    code = text.replace(data, '')
    tap.ok(some and not re.search(r'(?:https?|wss?|ftp)://', code), 'no URL')
    tap.ok(some and not re.search(r'\b(?:fetch|XMLHttpRequest|WebSocket|importScripts|sendBeacon)\b', code),
           'no network call')
    tap.ok(0 < len(code.encode('utf-8', 'surrogateescape')) < MAX_CODE, 'code is under 60 KiB')
    tap.ok(data != '' and not re.search('[<>&]', data), 'no markup characters in the data')
    return page, data


def sums_up(d):
    """Walks the tree as the page does: depths fit, and all kinds stand where they may."""
    kinds = d['frames'][2::3]
    stack = []
    for i, frame in enumerate(d['frame']):
        up = d['up'][i - 1] if i > 0 else 0
        if up < 0 or (i > 0 and up >= len(stack)):
            return False
        if i > 0 and up > 0:
            del stack[-up:]
        if stack and (stack[-1], frame) in sums_up.seen:
            return False  # a parent has two children with one frame
        if kinds[frame] != min(len(stack), 2) and not (len(stack) >= 2 and kinds[frame] >= 2):
            return False
        if stack:
            sums_up.seen.add((stack[-1], frame))
        stack.append(-i - 1)  # the node, told apart from frames
    return True


def check_tree(tap, d, samples):
    n = len(d['frame'])
    nframes = len(d['frames']) // 3
    numbers = [x for k in ('frame', 'up', 'self', 'frames') for x in d[k]]
    tap.ok(all(isinstance(x, int) and x >= 0 for x in numbers), 'numbers are whole')
    tap.ok(n >= 1 and len(d['up']) == n - 1 and len(d['self']) == n, 'arrays have one length')
    tap.ok(len(d['frames']) % 3 == 0 and max(d['frame']) < nframes, 'frames exist')
    tap.ok(all(x < len(d['strings']) for i, x in enumerate(d['frames']) if i % 3 != 2),
           'strings exist')
    tap.ok(all(x < KINDS for x in d['frames'][2::3]), 'kinds are known')
    tap.ok(len(set(d['strings'])) == len(d['strings']) or '\ufffd' in ''.join(d['strings']),
           'strings are distinct')
    sums_up.seen = set()
    tap.ok(sums_up(d), 'the tree is well formed: root, command, functions')
    tap.ok(sum(d['self']) == d['samples'], 'samples of all nodes make up all samples')
    tap.ok(d['samples'] <= d['total_samples'], 'no more samples than in all events')
    tap.ok(('weight' in d and len(d['weight']) == n) != ('period' in d),
           'either one period, or a weight for each node')
    if samples is not None:
        tap.ok(d['samples'] == samples, 'number of samples is %d' % samples)


def draw(sonde, recording, jobs):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/page.html'
        done = subprocess.run([sonde, 'flamegraph', '-i', recording, '-o', path,
                               '--jobs', str(jobs)], stderr=subprocess.PIPE, check=False)
        with open(path, 'rb') as f:
            return done.returncode, f.read()


def main():
    tap = Tap()
    samples = None
    if sys.argv[1] == '--jobs':
        status, raw = draw(sys.argv[2], sys.argv[3], 1)
        tap.ok(status == 0, 'exit status is 0')
        for jobs in (2, 3, 8):
            tap.ok(draw(sys.argv[2], sys.argv[3], jobs) == (0, raw) and raw != b'',
                   'the same bytes with %d jobs' % jobs)
        samples = int(sys.argv[4]) if len(sys.argv) > 4 else None
    else:
        with open(sys.argv[1], 'rb') as f:
            raw = f.read()
        samples = int(sys.argv[2]) if len(sys.argv) > 2 else None
    _, data = check_page(tap, raw)
    try:
        d = json.loads(data)
    except ValueError as e:
        d = None
        print('# %s' % e)
    tap.ok(isinstance(d, dict), 'the data is JSON')
    if isinstance(d, dict):
        check_tree(tap, d, samples)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())
