"""Ways to make an agent fetch from where only this machine can reach (PE11): all refused before any connection."""

import asyncio
import ipaddress

import pytest

from holdfast.runtime.tools.web_client import WebClient
from holdfast.runtime.web_guard import RefusedAddress, check_address, check_url
from web_bench import PUBLIC, PUBLIC6, Names, Wire, server

PRIVATE = (
    "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.5", "172.16.3.4", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
    "168.63.129.16",
)  # fmt: skip


def spellings(text: str) -> list[str]:
    """One IPv4 address in the forms that some program somewhere understands."""
    address = ipaddress.IPv4Address(text)
    number = int(address)
    a, b, c, d = address.packed
    mapped = f"{a:02x}{b:02x}:{c:02x}{d:02x}"
    wide = "".join(chr(0xFF10 + int(char)) if char.isdigit() else "\uff0e" for char in text)
    return [
        text,
        f"{text}.",
        str(number),
        hex(number),
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a}.{b}.{c * 256 + d}",
        f"{a}.{b * 65536 + c * 256 + d}",
        f"0{number:o}",
        wide,
        text.replace(".", "\u3002"),
        "".join(f"%{ord(char):02x}" for char in text),
        f"[::ffff:{text}]",
        f"[::ffff:{mapped}]",
        f"[::{mapped}]",
        f"[::ffff:0:{mapped}]",
        f"[64:ff9b::{mapped}]",
        f"[64:ff9b:1::{mapped}]",
        f"[2002:{mapped}::1]",
        f"[2001:0:4136:e378:8000:63bf:{(~(a << 8 | b)) & 0xFFFF:x}:{(~(c << 8 | d)) & 0xFFFF:x}]",
        f"[2606:2800:220:1:0:5efe:{mapped}]",
        f"user@{text}",
        f"{PUBLIC}@{text}",
    ]


HOSTS = [form for text in PRIVATE for form in spellings(text)]
OTHERS = [
    # this machine and private networks by IPv6
    "http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
    "http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/",
    "http://[100::1]/", "http://[3fff::1]/", "http://[5f00::1]/", "http://[4000::1]/", "http://[::1",
    # names
    "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://localhost:8080/", "http://a.localhost/",
    "http://metadata/", "http://metadata.google.internal/", "http://instance-data/", "http://router.local/",
    "http://db.lan/", "http://intranet/", "http://host.docker.internal/", "http://kubernetes.default.svc/",
    "http://x.cluster.local/", "http://x.home.arpa/", "http://1.0.0.127.in-addr.arpa/", "http://secret.onion/",
    "http://\u2139ocalhost.localhost/", "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/",
    # other schemes
    "file:///etc/passwd", "ftp://example.com/", "gopher://example.com:70/_x", "dict://example.com:11211/",
    "ldap://example.com/", "data:text/html,hi", "javascript:alert(1)", "jar:http://example.com!/", "ws://example.com/",
    "unix:///var/run/docker.sock", "netdoc:///etc/passwd", "http:example.com", "https:/example.com", "//example.com/",
    "http:///example.com", "view-source:http://example.com/", "blob:http://example.com/",
    # two programs would read these differently
    "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\.example.com/", "http://exam ple.com/",
    "http://example.com\t/", "http://exa\nmple.com/", "http://example.com\r\nHost: localhost/", "http://\x00example.com/",
    "http://user:pass@example.com/", "http://user@example.com/", "http://example.com:80@127.0.0.1/",
    "http://127.0.0.1#@example.com/", "http://127.0.0.1?@example.com/", "http://example.com%00.localhost/",
    "http://example.com%2f@127.0.0.1/", "http://[127.0.0.1]/", "http://[::ffff:127.0.0.1%25]/", "http://-.com/",
    "http://.example.com/", "http://example..com/", "http://ex_ample!.com/", "http://a%2eb.com/",
    "http://127.0.0.1:80:80/", "http://example.com:99999/", "http://example.com:-1/", "http://example.com:0/",
    "http:// example.com/", "http://\u2024example.com/", "http://1.2.3/", "http://1.2.3.4.5/", "http://0x/",
    "http://127.0.0.0x1/", "http://256.1.1.1/", "http://0177.1/", "http://0x7f.1/", "http://017700000001/",
    "http://00000127.0.0.1/", "http://127.0.0.01/", "http://2130706433/", "http://4294967296/",
    # other protocols' doors
    "http://example.com:22/", "http://example.com:25/", "http://example.com:6379/", "http://example.com:11211/",
    "http://example.com:5432/", "http://example.com:2375/", "http://example.com:3306/", "http://example.com:27017/",
    "http://example.com:9200/",
    "https://" + "a" * 5000 + ".com/",
]  # fmt: skip
FORMS = [f"http://{host}/latest/meta-data/" for host in HOSTS] + OTHERS
ORDINARY = (
    "https://example.com/", "http://example.com", "https://www.python.org/doc/", "https://docs.python.org/3/library/re.html#x",
    "https://en.wikipedia.org/wiki/Sandbox_(computer_security)", "https://github.com/torvalds/linux/blob/master/README",
    "https://api.github.com/repos/a/b?per_page=100&page=2", "https://news.ycombinator.com/item?id=1", "https://1.1.1.1/",
    "https://8.8.8.8/resolve?name=example.com", "https://[2606:4700:4700::1111]/", "https://example.com:8443/x",
    "http://example.com:8080/", "http://example.com:8000/", "http://example.com:3000/", "https://sub.sub2.example.co.uk/",
    "https://example.com/a%20b?q=%E4%B8%AD", "https://example.com/?u=http://127.0.0.1/", "https://example.com/@user/post",
    "https://example.com/#@127.0.0.1", "https://xn--fsq.com/", "https://\u4e2d\u6587.com/", "https://b\u00fccher.de/",
    "https://EXAMPLE.com/UPPER", "https://example.com./", "https://a-b.example.com/", "https://a_b.example.com/",
    "https://localhost.example.com/", "https://127-0-0-1.example.com/", "https://internal.example.com/",
    "https://10.example.com/", "https://metadata.example.com/", "https://example.museum/", "https://example.io/x.tar.gz",
    "https://raw.githubusercontent.com/a/b/main/README.md", "https://registry.example.com/package/-/p-1.0.0.tgz",
    "https://stackoverflow.com/questions/1/x-y-z", "https://developer.mozilla.org/en-US/docs/Web/HTTP",
    "https://www.rfc-editor.org/rfc/rfc9110.txt", "https://arxiv.org/abs/2401.00001", "https://crates.io/crates/serde",
    "https://pkg.go.dev/net/http", "https://hub.docker.com/_/python", "https://huggingface.co/models",
    "https://cdn.example.net:443/x.js", "http://example.org:80/", "https://example.dev/", "https://t.co/abc",
    "https://www.bbc.co.uk/news", "https://\u65e5\u672c.jp/", "https://172.15.0.1/", "https://172.32.0.1/",
    "https://11.0.0.1/", "https://192.167.1.1/", "https://100.63.0.1/", "https://198.20.0.1/",
    "https://[2a00:1450:4001:80b::200e]/", "https://[64:ff9b::5db8:d822]/",
)  # fmt: skip


def fetch(url: str, names: Names, handler, *, port_used: list[Wire] | None = None):
    async def go():
        async with server(handler) as port:
            wire = Wire(port)
            if port_used is not None:
                port_used.append(wire)
            return await WebClient(resolver=names, connect=wire, seconds=10).get(url)

    return asyncio.run(go())


def hello(method, target, headers, body):
    return 200, {"Content-Type": "text/plain"}, b"hello"


def test_PE11_the_table_is_long_enough():
    assert len(set(FORMS)) >= 150
    assert len(set(ORDINARY)) >= 50


def test_PE11_every_hostile_form_is_refused_without_a_connection():
    """All in one loop: what is refused needs no server, and what is not would show in `connected`."""

    async def go():
        missed = []
        for url in FORMS:
            wire = Wire(1)
            try:
                await WebClient(resolver=Names(), connect=wire, seconds=5).get(url)
            except RefusedAddress:
                if wire.connected:
                    missed.append((url, wire.connected))
            except Exception as error:
                missed.append((url, repr(error)))
            else:
                missed.append((url, "fetched"))
        return missed

    assert asyncio.run(go()) == []


@pytest.mark.parametrize("url", ORDINARY)
def test_PE11_ordinary_addresses_are_allowed(url):
    checked = check_url(url)
    assert checked.scheme in ("http", "https")
    assert checked.target.isascii()


def test_PE11_ordinary_addresses_are_fetched():
    async def go():
        async with server(hello) as port:
            for url in ORDINARY:
                if url.startswith("http://"):
                    wire = Wire(port)
                    answer = await WebClient(resolver=Names(), connect=wire, seconds=10).get(url)
                    assert answer.body == b"hello"
                    assert wire.connected == [PUBLIC]

    asyncio.run(go())


NAMES = {
    "loopback.example.com": ["127.0.0.1"],
    "ten.example.com": ["10.1.2.3"],
    "metadata.example.com": ["169.254.169.254"],
    "six.example.com": ["::1"],
    "mapped.example.com": ["::ffff:10.0.0.1"],
    "nat64.example.com": ["64:ff9b::7f00:1"],
    "sixtofour.example.com": ["2002:7f00:1::"],
    "unique.example.com": ["fd00::1"],
    "scoped.example.com": ["fe80::1%eth0"],
    "mixed.example.com": [PUBLIC, "192.168.0.1"],
    "mixed6.example.com": [PUBLIC6, "::1"],
    "carrier.example.com": ["100.64.1.1"],
    "zero.example.com": ["0.0.0.0"],
    "broadcast.example.com": ["255.255.255.255"],
    "nothing.example.com": [],
    "nonsense.example.com": ["not an address"],
}


@pytest.mark.parametrize("name", NAMES)
def test_PE11_names_that_lead_to_private_addresses_are_refused(name):
    wires: list[Wire] = []
    with pytest.raises(RefusedAddress):
        fetch(f"http://{name}/", Names(NAMES), hello, port_used=wires)
    assert wires[0].connected == []


def test_PE11_a_name_that_changes_between_check_and_connection_gains_nothing():
    """There is one look-up, and the connection goes to what it said: a second answer is never asked for."""
    names = Names({"rebind.example.com": [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]]})
    wires: list[Wire] = []
    assert fetch("http://rebind.example.com/", names, hello, port_used=wires).body == b"hello"
    assert names.asked == ["rebind.example.com"]
    assert wires[0].connected == [PUBLIC]


def test_PE11_a_name_that_changes_before_a_redirect_is_checked_again():
    def handler(method, target, headers, body):
        return (302, {"Location": "/two", "Connection": "close"}, b"") if target == "/one" else hello("", "", {}, b"")

    names = Names({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]})
    wires: list[Wire] = []
    with pytest.raises(RefusedAddress, match=r"127\.0\.0\.1"):
        fetch("http://rebind.example.com/one", names, closing(handler), port_used=wires)
    assert wires[0].connected == [PUBLIC]


def closing(handler):
    """The redirect's connection is not used again, so that a new one has to be made."""

    def answer(method, target, headers, body):
        status, given, content = handler(method, target, headers, body)
        return status, {**given, "Connection": "close"}, content

    return answer


REDIRECTS = [
    "http://127.0.0.1/", "http://localhost/", "//127.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/",
    "http://2130706433/", "http://0x7f.1/", "file:///etc/passwd", "gopher://example.com/", "http://user@example.com/",
    "http://ten.example.com:22/", "http://example.com\\@127.0.0.1/", "http://[::ffff:7f00:1]/",
]  # fmt: skip


@pytest.mark.parametrize("location", REDIRECTS)
def test_PE11_redirects_are_checked_again(location):
    wires: list[Wire] = []
    with pytest.raises(RefusedAddress):
        fetch(
            "http://example.com/",
            Names(NAMES),
            lambda *request: (302, {"Location": location}, b""),
            port_used=wires,
        )
    assert wires[0].connected == [PUBLIC]


def test_PE11_a_redirect_to_another_host_is_only_reported():
    """The rules judged the first address; the second has to be judged too."""
    wires: list[Wire] = []
    answer = fetch(
        "http://example.com/",
        Names(NAMES),
        lambda *request: (302, {"Location": "http://loopback.example.com/"}, b""),
        port_used=wires,
    )
    assert answer.elsewhere == "http://loopback.example.com/"
    assert wires[0].connected == [PUBLIC]


@pytest.mark.parametrize("text", [*PRIVATE, "::1", "fe80::1", "fc00::1", "2002:a00:1::", "64:ff9b::a00:1"])
def test_PE11_addresses_are_refused_as_such(text):
    with pytest.raises(RefusedAddress):
        check_address(ipaddress.ip_address(text))
