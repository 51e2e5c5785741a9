"""The guard itself: what a checked address looks like, and what the refusals say."""

import asyncio
import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.web_guard import (
    RefusedAddress,
    check_address,
    check_url,
    public_addresses,
    system_resolver,
)


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("https://Example.COM", "example.com", 443, "/", "example.com"),
        ("http://example.com:8080/a b".replace(" ", "%20"), "example.com", 8080, "/a%20b", "example.com:8080"),
        ("https://example.com./x?y=1#z", "example.com", 443, "/x?y=1", "example.com"),
        ("https://b\u00fccher.de/\u4e2d?q=\u00e9", "xn--bcher-kva.de", 443, "/%E4%B8%AD?q=%C3%A9", "xn--bcher-kva.de"),
        ("https://[2606:4700:4700::1111]:8443/", "2606:4700:4700::1111", 8443, "/", "[2606:4700:4700::1111]:8443"),
        ("http://1.1.1.1/", "1.1.1.1", 80, "/", "1.1.1.1"),
    ],
)
def test_a_checked_address_is_taken_apart_once(url, host, port, target, authority):
    checked = check_url(url)
    assert (checked.host, checked.port, checked.target, checked.authority) == (host, port, target, authority)
    assert checked.origin == f"{checked.scheme}://{authority}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.com/", "Only http:// and https://"),
        ("http://user:x@example.com/", "user name or password"),
        ("http://0x7f000001/", "it means 127.0.0.1"),
        ("http://169.254.169.254/", "cloud metadata"),
        ("http://router/", "private network"),
        ("http://example.com:25/", "Port 25"),
        ("http://a b/", "%-form"),
    ],
)
def test_a_refusal_says_why(url, said):
    with pytest.raises(RefusedAddress, match=said):
        check_url(url)


@given(st.ip_addresses(v=4))
def test_no_special_address_is_public_and_its_other_forms_neither(address):
    """Python's own table of special addresses as a second opinion: what it calls not global is never let through."""
    number = int(address)
    forms = [ipaddress.IPv6Address((0xFFFF << 32) | number), ipaddress.IPv6Address((0x2002 << 112) | (number << 80))]
    if not address.is_global or address.is_multicast:
        for form in (address, *forms, ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) | number)):
            with pytest.raises(RefusedAddress):
                check_address(form)
    for form in forms:  # wrapped like this even a public one is refused
        with pytest.raises(RefusedAddress):
            check_address(form)


@given(st.ip_addresses(v=6))
def test_no_special_ipv6_address_is_public(address):
    if not address.is_global or address.is_multicast:
        with pytest.raises(RefusedAddress):
            check_address(address)


@given(st.text(max_size=30))
def test_any_text_is_checked_or_refused(text):
    for url in (text, f"http://{text}/", f"https://{text}.com/{text}"):
        try:
            checked = check_url(url)
        except RefusedAddress:
            continue
        assert checked.host.isascii()
        assert checked.target.isascii()
        assert not any(char in checked.host for char in "/@\\ %#?")


def test_one_private_address_among_many_refuses_the_name():
    async def resolver(host, port):
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(RefusedAddress, match=r"10\.0\.0\.1: a private"):
        asyncio.run(public_addresses("example.com", 80, resolver))


@pytest.mark.parametrize(
    ("error", "said"), [(socket.gaierror(-2, "unknown"), "could not be looked up"), (TimeoutError(), "took too long")]
)
def test_a_name_that_cannot_be_looked_up_is_explained(error, said):
    async def resolver(host, port):
        raise error

    with pytest.raises(RefusedAddress, match=said):
        asyncio.run(public_addresses("example.com", 80, resolver))


def test_the_systems_own_resolver_is_checked_too():
    assert asyncio.run(system_resolver("127.0.0.1", 80)) == ["127.0.0.1"]
    with pytest.raises(RefusedAddress):
        asyncio.run(public_addresses("localhost", 80))
