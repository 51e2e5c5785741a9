"""Names of Python that matter to a reader: what is harmless, what writes, deletes, runs and connects."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

SAFE_MODULES = frozenset(
    "sys json math cmath re datetime time collections itertools functools string random statistics"
    " textwrap pprint platform os pathlib base64 hashlib hmac urllib csv decimal fractions uuid struct"
    " typing inspect calendar locale unicodedata html difflib glob fnmatch operator ast tokenize keyword"
    " site sysconfig zlib binascii secrets bisect heapq copy enum dataclasses numbers ipaddress shlex"
    " configparser tomllib xml zipfile gzip io errno stat pwd grp getpass socket types traceback warnings"
    " abc contextlib codecs array builtins timeit shutil subprocess tempfile zoneinfo colorsys reprlib"
    " graphlib linecache token symtable dis sqlite3 http ssl smtplib ftplib telnetlib pty ctypes importlib"
    " runpy pickle marshal signal threading multiprocessing asyncio email mimetypes gettext cProfile"
    " requests httpx aiohttp yaml tarfile bz2 lzma webbrowser socketserver select fcntl resource"
    " __future__".split()
)
RUNS = frozenset(
    "os.system os.popen os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe"
    " os.spawnl os.spawnle os.spawnlp os.spawnv os.spawnve os.spawnvp os.posix_spawn os.posix_spawnp"
    " os.startfile subprocess.run subprocess.call subprocess.check_call subprocess.check_output"
    " subprocess.Popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn"
    " asyncio.create_subprocess_shell asyncio.create_subprocess_exec popen2.popen2".split()
)
DELETES = {
    "os.remove": False, "os.unlink": False, "os.rmdir": False, "os.removedirs": True, "shutil.rmtree": True,
    "pathlib.Path.unlink": False, "pathlib.Path.rmdir": False, "os.truncate": False,
}  # fmt: skip
DELETE_METHODS = {"unlink": False, "rmdir": False, "rmtree": True, "removedirs": True, "remove_tree": True}
WRITES = frozenset(
    "os.mkdir os.makedirs os.mknod os.mkfifo os.symlink os.link os.rename os.renames os.replace"
    " shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move shutil.make_archive"
    " shutil.unpack_archive os.utime tempfile.mkdtemp tempfile.mkstemp tempfile.NamedTemporaryFile"
    " tempfile.TemporaryDirectory urllib.request.urlretrieve shutil.copyfileobj".split()
)
WRITE_METHODS = frozenset(
    "write_text write_bytes writelines mkdir touch symlink_to hardlink_to extractall extract to_csv"
    " to_json to_excel to_parquet savefig dump writestr".split()
)
PERMISSIONS = frozenset(
    ["os.chmod", "os.chown", "os.lchown", "shutil.chown", "os.setuid", "os.setgid", "os.seteuid", "os.setresuid"]
)
NETWORK_MODULES = frozenset(
    "requests httpx aiohttp urllib.request urllib3 smtplib ftplib telnetlib http.client"
    " urllib.urlretrieve urllib.urlopen socket xmlrpc paramiko socketserver http.server websocket"
    " websockets boto3".split()
)
NETWORK_SAFE = frozenset(
    [
        "socket.gethostname",
        "socket.getfqdn",
        "socket.AF_INET",
        "socket.inet_aton",
        "socket.inet_ntoa",
        "socket.getservbyname",
    ]
)
HIDERS = frozenset(("exec", "eval", "compile", "__import__", "execfile"))
SAFE_BUILTINS = frozenset(
    "print len range str int float list dict set tuple sorted reversed enumerate zip map filter sum min"
    " max abs round any all isinstance issubclass type repr format chr ord hex oct bin bool bytes"
    " bytearray iter next hash id vars dir getattr hasattr callable divmod pow slice super object complex"
    " frozenset input help memoryview exit quit ascii globals locals Exception ValueError KeyError"
    " SystemExit RuntimeError".split()
)
SAFE_METHODS = frozenset(
    "append extend insert pop remove clear index count sort reverse copy keys values items get setdefault"
    " update join split rsplit splitlines strip lstrip rstrip lower upper title capitalize replace format"
    " encode decode startswith endswith find rfind isdigit isalpha isalnum isspace zfill center ljust"
    " rjust partition rpartition read readline readlines read_text read_bytes exists is_file is_dir"
    " iterdir glob rglob resolve absolute stat relative_to with_suffix group groups groupdict findall"
    " search match sub finditer fullmatch hexdigest digest strftime isoformat timestamp date now today"
    " total_seconds add discard union intersection difference most_common elements write flush close seek"
    " tell isatty namelist infolist getnames tolist translate casefold swapcase expandtabs hex as_posix"
    " parse getroot iter findtext sections options cursor execute fetchall fetchone fetchmany text json"
    " stem name expanduser open mro fromkeys isnumeric isupper islower year month day hour weekday"
    " isocalendar".split()
)
SAFE_OS = frozenset(
    "os.listdir os.getcwd os.walk os.scandir os.stat os.lstat os.getenv os.getpid os.getppid os.getuid"
    " os.geteuid os.getgid os.cpu_count os.uname os.access os.getlogin os.get_terminal_size os.sep"
    " os.times os.urandom os.readlink os.environ.get os.statvfs os.getloadavg os.isatty os.fspath"
    " os.fsencode os.fsdecode os.sched_getaffinity".split()
)
