"""Entering: one-time codes for a token, the devices that have one, and what the page wants to know first."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from starlette.responses import Response

from holdfast._version import __version__
from holdfast.core.messages import Phrase
from holdfast.core.verdict import Mode
from holdfast.doors.web.devices import BadCode, Device
from holdfast.doors.web.replies import json_response
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.doors.web.security import is_loopback_client
from holdfast.store.attached import manifests

COOKIE_SECONDS = 90 * 86_400
_WRONG = {
    "code_unknown": (
        403,
        Phrase(
            "code.unknown",
            "this code is not known here; open the newest link, or make another pairing code",
            "此代码无效；请打开最新的链接，或重新生成配对码",
        ),
    ),
    "code_used": (
        403,
        Phrase(
            "code.used",
            "this link was used already; the terminal makes another when you press Enter",
            "此链接已被使用；在终端按回车可生成新的",
        ),
    ),
    "code_expired": (403, Phrase("code.expired", "this code is too old; make another", "此代码已过期；请重新生成")),
    "too_many_attempts": (
        429,
        Phrase("code.too_many", "too many wrong codes; wait a minute", "错误次数过多；请等待一分钟"),
    ),
}


class EnterBody(TypedDict):
    code: str
    name: NotRequired[str]


class Entered(TypedDict):
    device: str
    key: str


class DeviceShape(TypedDict):
    id: str
    name: str
    kind: Literal["link", "code"]
    createdAt: float
    lastSeen: float
    current: bool


class DeviceList(TypedDict):
    devices: list[DeviceShape]


class HostShape(TypedDict):
    name: str
    attached: bool


class Hello(TypedDict):
    version: str
    user: str
    language: Literal["en", "zh"]
    profile: Literal["desktop", "mobile"]
    home: str
    vault: str
    model: str
    offline: bool
    hosts: list[HostShape]
    pending: int
    panic: bool
    approvalTimeoutSeconds: float
    defaultMode: Mode
    uploadLimit: int
    canOpen: bool
    reachable: bool
    device: DeviceShape
    eventNo: int


class NameBody(TypedDict):
    name: str


def device_shape(device: Device, current: str = "") -> DeviceShape:
    return {
        "id": device.id,
        "name": device.name,
        "kind": device.kind,
        "createdAt": device.created_at,
        "lastSeen": device.last_seen,
        "current": device.id == current,
    }


def device_list(call: Call) -> DeviceList:
    return {"devices": [device_shape(device, call.device.id) for device in call.server.devices.all()]}


def enter(call: Call) -> Response:
    """A one-time code for a token: the cookie for the browser, the key for the page."""
    server = call.server
    client = call.request.client.host if call.request.client else "?"
    try:
        kind = server.codes.take(call.body["code"], client)
    except BadCode as bad:
        status, said = _WRONG[bad.reason]
        raise ApiError(status, bad.reason, said()) from None
    name = call.body.get("name") or _browser(call.request.headers.get("user-agent", ""))
    admitted = server.devices.admit(name, kind)
    server.on_record("page.enter", device=admitted.device.id, name=admitted.device.name, how=kind)
    entered: Entered = {"device": admitted.device.id, "key": admitted.key}
    response = json_response(entered)
    response.set_cookie(
        server.cookie,
        admitted.cookie,
        max_age=COOKIE_SECONDS,
        path="/",
        secure=server.address.secure,
        httponly=True,
        samesite="strict",
    )
    return response


def leave(call: Call) -> Response:
    """This browser is forgotten."""
    call.server.devices.revoke(call.device.id)
    call.server.on_record("page.leave", device=call.device.id)
    response = json_response({"left": True})
    response.delete_cookie(call.server.cookie, path="/", httponly=True, samesite="strict")
    return response


def rename(call: Call) -> DeviceShape:
    renamed = call.server.devices.rename(call.path["id"], call.body["name"])
    if renamed is None:
        raise not_found("device", call.path["id"])
    return device_shape(renamed, call.device.id)


def revoke(call: Call) -> DeviceList:
    """Its next request is refused, and its stream ends."""
    if not call.server.devices.revoke(call.path["id"]):
        raise not_found("device", call.path["id"])
    call.server.on_record("page.revoke", device=call.path["id"])
    return device_list(call)


def hello(call: Call) -> Hello:
    server = call.server
    control = server.control
    runtime = control.settings.runtime
    vault = str(server.vault or "")
    number = server.hub.last
    return {
        "version": __version__,
        "user": control.user,
        "language": control.language(vault),
        "profile": runtime.profile,
        "home": str(server.home.root),
        "vault": vault,
        "model": runtime.model or "offline",
        "offline": not runtime.model or runtime.model == "offline",
        "hosts": _hosts(call),
        "pending": len(control.approvals.pending()),
        "panic": control.orders.of("") == "panic",
        "approvalTimeoutSeconds": runtime.permission.approval_timeout_seconds,
        "defaultMode": runtime.mode.default,
        "uploadLimit": server.upload_limit,
        "canOpen": can_open(call),
        "reachable": not server.address.loopback_only or bool(server.address.public_url),
        "device": device_shape(call.device, call.device.id),
        "eventNo": number,
    }


def can_open(call: Call) -> bool:
    """The system's program helps only who sits before this machine."""
    profile = call.server.control.settings.runtime.profile
    return profile == "desktop" and is_loopback_client(call.request.scope) and not call.server.address.public_url


def _hosts(call: Call) -> list[HostShape]:
    from holdfast.hosts.registry import HOSTS

    attached = {manifest.host for manifest in manifests(call.server.home)}
    return [{"name": name, "attached": name in attached} for name in HOSTS]


def _browser(agent: str) -> str:
    """A name to begin with; the person can change it."""
    system = next(
        (name for name in ("iPhone", "iPad", "Android", "Macintosh", "Windows", "Linux") if name in agent), ""
    )
    known = (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
    program = next((name for mark, name in known if mark in agent), "browser")
    return f"{program} ({system})" if system else program


_ANY = dict[str, Any]
ROUTES = (
    Route(
        "POST",
        "/api/enter",
        enter,
        "Exchange a one-time code for a token.",
        body=EnterBody,
        returns=Entered,
        public=True,
    ),
    Route("POST", "/api/leave", leave, "Forget this browser.", returns=_ANY),
    Route("GET", "/api/hello", hello, "What the page wants to know first.", returns=Hello),
    Route("GET", "/api/devices", device_list, "The browsers that may enter.", returns=DeviceList),
    Route("POST", "/api/devices/{id}", rename, "Give a device another name.", body=NameBody, returns=DeviceShape),
    Route("DELETE", "/api/devices/{id}", revoke, "Let a device in no more.", returns=DeviceList),
)
