/**
 * Ways to write an address that must not be reached: every spelling, range, trick of parsers and
 * public service that the reports of other systems name. Shared by the tests and the proof.
 */

const LOOPBACK_SPELLINGS = [
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.1.1.1', '127.255.255.254', '2130706433'],
  ...['0x7f000001', '0x7f.0.0.1', '0x7f.1', '0X7F.0X0.0X0.0X1', '017700000001', '0177.0.0.1'],
  ...['0177.0.0.01', '00000177.0.0.1', '0177.1', '127.0x0.0.1', '127.0.0.0x1', '0x7f.0.1'],
  ...['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '𝟭𝟮𝟳.𝟬.𝟬.𝟭'],
  ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '127.0.0.%31', '0', '0.0.0.0', '0x0', '00', '0.0'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]'],
  ...[
    '[::ffff:7f00:1]',
    '[::ffff:7f00:0001]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
  ],
  ...['[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:1::1]'],
  ...['[2001:0:7f00:1::]', '[2001::1]', '[::ffff:0:127.0.0.1]', '[::7f00:1]', '[::ffff:0.0.0.0]'],
]

const NAMES = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'LocalHost', 'foo.localhost', 'a.b.localhost'],
  ...['localhost.localdomain', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ', 'loc%61lhost', '%6c%6f%63alhost'],
  ...['loc\u200balhost', 'localhost\u200d', 'lo\u00adcalhost', 'localhost\ufeff', 'printer.local'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'metadata', 'metadata.goog'],
  ...['instance-data', 'db.internal', 'vault.corp', 'router.lan', 'nas.home', 'box.home.arpa'],
  ...['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'redis', 'postgres', 'a'],
  ...['abc.onion', '1.0.0.127.in-addr.arpa', 'wiki.intranet', 'x.test', 'x.invalid', 'İocalhost.'],
]

const RANGES = [
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.1.254'],
  ...['0xa.0.0.1', '012.0.0.1', '167772161', '0xc0a80001', '3232235521', '192.168.257', '10.1'],
  ...['169.254.169.254', '169.254.170.2', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376'],
  ...['169.254.43518', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]'],
  ...['100.64.0.1', '100.127.255.254', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.254', '198.51.100.1', '203.0.113.7'],
  ...['192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '0.1.2.3'],
  ...['[fe80::1]', '[fe80::a9fe:a9fe]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]'],
  ...['[fd12:3456::1]', '[ff02::1]', '[ff0e::1]', '[100::1]', '[2001:db8::1]', '[2001:10::1]'],
  ...['[2001:20::1]', '[2001:2::1]', '[2002:a00:1::]', '[2002:c0a8:1::1]', '[2002:a9fe:a9fe::]'],
  ...['[4000::1]', '[5f00::1]', '[::2]', '[::a00:1]', '[64:ff9b::10.0.0.1]', '[::ffff:10.0.0.1]'],
  ...['[::ffff:192.168.0.1]', '[::ffff:c0a8:1]', '[fd20:ce::254]', '[3fff::1]'],
]

/** Hosts that must be refused by their text alone. */
export const REFUSED_HOSTS: readonly string[] = [...LOOPBACK_SPELLINGS, ...NAMES, ...RANGES]

/** Whole URLs that must be refused by their text alone; `%PORT%` is a canary's port. */
export const REFUSED_URLS: readonly string[] = [
  ...['', ' ', 'x', '/', '//127.0.0.1/', '127.0.0.1', 'example.com', 'http', 'http:', 'http://'],
  ...['http:127.0.0.1/', 'http:/127.0.0.1/', 'http:///127.0.0.1/', 'https:example.com'],
  ...['file:///etc/passwd', 'ftp://example.com/', 'gopher://127.0.0.1:%PORT%/_x', 'dict://a:1/'],
  ...['javascript:alert(1)', 'data:text/plain,x', 'ws://example.com/', 'jar:http://a!/', 'blob:x'],
  ...['http://user@example.com/', 'http://user:pass@example.com/', 'http://@example.com/'],
  ...['http://:@example.com/', 'http://example.com@127.0.0.1/', 'http://example.com:80@127.0.0.1/'],
  ...['http://example.com\\@127.0.0.1/', 'http:\\\\127.0.0.1\\', 'http://example.com\\.internal/'],
  ...[
    'http://exa mple.com/',
    'http://example.com/\n',
    '\thttp://example.com/',
    'http://exam\tple.com/',
  ],
  ...['http://example.com\u0000.evil/', 'http://example.com/\u202e', 'http://example.com/\ud800'],
  ...[
    'http://example.com:22/',
    'http://example.com:25/',
    'http://example.com:6379/',
    'http://a.b:0/',
  ],
  ...['http://example.com:99999/', 'http://example.com:-1/', 'http://example.com:080808/'],
  ...['http://[::1/', 'http://[::1%25lo]/', 'http://[fe80::1%25eth0]/', 'http://1.2.3.4.5/'],
  ...['http://256.1.1.1/', 'http://0x100000000/', 'http://1.1.1.1.1/', 'http://example..com:1/'],
  ...['http://127.0.0.1:%PORT%/', 'http://localhost:%PORT%/', 'http://[::1]:%PORT%/'],
  ...['http://127.0.0.1:%PORT%#@example.com/', 'http://127.0.0.1:%PORT%?@example.com/'],
  ...['https://127.0.0.1:%PORT%/', 'http://0.0.0.0:%PORT%/', 'http://127.1:%PORT%/'],
  ...['http://[::ffff:127.0.0.1]:%PORT%/', 'http://2130706433:%PORT%/', 'HTTP://0x7F.1:%PORT%/'],
  `https://example.com/${'a'.repeat(2_048)}`,
]

/** What must go on working: the guard is not a wall. */
export const ALLOWED_URLS: readonly string[] = [
  ...['https://example.com/', 'http://example.com', 'HTTPS://EXAMPLE.COM/Hook?a=1&b=%20#top'],
  ...['https://example.com:8443/x', 'http://example.com:8080', 'https://hooks.example.co.uk/a/b'],
  ...[
    'https://example.com./x',
    'https://bücher.example.com/',
    'https://例え.jp/フック',
    'http://8.8.8.8/',
  ],
  ...['https://[2606:4700:4700::1111]/', 'http://[::ffff:8.8.8.8]/', 'https://xn--bcher-kva.com/'],
  ...['https://example.com/@user', 'https://example.com/?to=http://127.0.0.1/', 'http://1.1/x'],
]
