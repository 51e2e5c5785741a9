"""The requests that the offline model understands, as patterns; the first that fits the whole request wins.

Groups: `path` (and `to`) name files, `text` is what to search, write, run or plan, `old` what is replaced, `url` a
page.
"""

from __future__ import annotations

PATH = r"(?P<path>\"[^\"]+\"|'[^']+'|`[^`]+`|“[^”]+”|[^\s,;，。；：“”]+)"
URL = r"(?P<url>https?://[^\s<>\"'，。；）)]+)"
_QUOTED = r"`[^`]+`|\"[^\"]+\"|'[^']+'|“[^”]+”"
_TEXT = rf"(?P<text>{_QUOTED}|.+?)"
_OLD = rf"(?P<old>{_QUOTED}|\S+?)"
_NEW = rf"(?P<text>{_QUOTED}|\S+)"
_TICKED = r"(?P<text>`[^`]+`)"
_PROGRAM = r"(?P<text>(?!(?:the|a|an|my|it|this|that|all)\b)[A-Za-z0-9_./~-].*)"
_REST = r"(?P<text>.+)"
_THE_FILE = r"(?:the\s+)?(?:file\s+)?"
_FOLDER = r"(?:folder|directory|project|repo(?:sitory)?|code\s?base|workspace|vault)"
_FOLDER_ZH = r"(?:文件夹|目录|项目|仓库|代码库|工作区)"
_CONTENT = r"(?:the\s+)?(?:text|contents?|words|lines?)?\s*[:：]?\s*"
_COLON = r"\s*[:：]?\s*"

PATTERNS: tuple[tuple[str, str], ...] = (
    ("command", r"(?:\$|!)\s*(?P<text>\S.*)"),
    ("settled", r"mb:(?:write|no)\b.*|yes|no|skip|写入?|确认|不用|跳过"),
    ("remember", rf"remember(?:\s+that|\s*[:：])?\s+{_REST}"),
    ("remember", rf"(?:记住|记下|记一下){_COLON}{_REST}"),
    ("help", r"(?:help|what can you do|who are you|what are you|hi|hello|hey)(?:\W.*)?"),
    ("help", r"(?:帮助|你能做什么|你会什么|你是谁|你好).*"),
    ("thanks", r"(?:thanks|thank you|ok|okay|good|great|well done)(?:\s+(?:you|a lot|very much))?"),
    ("thanks", r"(?:谢谢|多谢|好的?|可以了|不错).{0,4}"),
    ("tests", r"(?:run|execute|start)\s+(?:all\s+|the\s+|my\s+)*(?:unit\s+)?tests?(?:\s+suite)?"),
    ("tests", r"(?:运行|跑|执行)(?:一下|一遍)?(?:所有|全部|单元)?的?测试"),
    ("command", rf"(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?(?:command)?{_COLON}{_TICKED}"),
    ("command", rf"(?:运行|执行)(?:一下)?(?:命令)?{_COLON}{_TICKED}"),
    ("command", rf"(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?command{_COLON}(?P<text>\S.*)"),
    ("command", rf"(?:run|execute)(?:\s*[:：]\s*|\s+){_PROGRAM}"),
    ("command", rf"(?:运行|执行)(?:一下)?(?:命令)?{_COLON}{_PROGRAM}"),
    ("web_search", rf"(?:search|look)\s+(?:on\s+)?(?:the\s+)?(?:web|internet|online)\s+(?:for\s+)?{_REST}"),
    ("web_search", rf"(?:上网|网上|联网)(?:搜索|查找|搜|查)(?:一下)?\s*{_REST}"),
    ("fetch", rf"(?:fetch|download|get|open|read|visit|show)\s+(?:the\s+)?(?:page\s+|url\s+)?{URL}.*"),
    ("fetch", rf"(?:抓取|获取|打开|访问|读取|下载)(?:一下)?(?:网页|页面)?\s*{URL}.*"),
    (
        "watch",
        rf"keep\s+(?:on\s+)?(?:reading|checking|watching|polling)\s+{_THE_FILE}{PATH}"
        rf"(?:\s+until\s+(?:it\s+)?(?:says?|contains?|is)\s+{_REST})?",
    ),
    (
        "watch",
        rf"(?:一直|不停地|反复)(?:读取|读|检查|查看|盯着)\s*{PATH}"
        rf"(?:\s*[,，]?\s*直到(?:出现|包含|变成|内容为)?\s*{_REST})?",
    ),
    ("delegate", rf"(?:ask|tell|have|let)\s+(?:a|the|another)\s+(?:sub-?\s?agent|helper)\s+(?:to\s+)?{_REST}"),
    ("delegate", rf"delegate{_COLON}{_REST}"),
    ("delegate", rf"(?:让|叫|派)(?:一个)?(?:子代理|子智能体|助手)(?:去|来)?\s*{_REST}"),
    (
        "plan",
        r"(?:make|write|create|draw\s+up|give)\s+(?:me\s+)?(?:a\s+|the\s+)?plan"
        rf"(?:\s+(?:for|to|of|about)\s+{_REST})?",
    ),
    ("plan", rf"plan\s+{_REST}"),
    ("plan", r"(?:制定|做|写|列|拟)(?:一个|一份|个|份)?(?:(?P<text>.{1,40}?)的)?计划.*"),
    ("plan", rf"计划(?:一下)?\s*{_REST}"),
    ("summarise", rf"summari[sz]e\s+(?:this|the|my|our)?\s*{_FOLDER}(?:\s+(?P<path>\S+))?"),
    ("summarise", rf"what(?:'s|\s+is)\s+(?:in\s+)?this\s+{_FOLDER}(?:\s+about)?"),
    ("summarise", rf"(?:give\s+me\s+)?an?\s+overview(?:\s+of\s+(?:this|the)\s+{_FOLDER})?"),
    ("summarise", rf"summari[sz]e\s+{_THE_FILE}{PATH}"),
    ("summarise", rf"(?:总结|概括|概述|介绍)(?:一下)?(?:这个|本|当前|整个)?{_FOLDER_ZH}"),
    ("summarise", rf"(?:总结|概括|概述)(?:一下)?\s*(?:文件)?\s*{PATH}"),
    ("replace", rf"replace\s+{_OLD}\s+(?:with|by)\s+{_NEW}\s+in\s+{_THE_FILE}{PATH}"),
    ("replace", rf"change\s+{_OLD}\s+(?:to|into)\s+{_NEW}\s+in\s+{_THE_FILE}{PATH}"),
    ("replace", rf"把\s*{PATH}\s*(?:中|里)的\s*{_OLD}\s*(?:改成|改为|替换为|替换成|换成)\s*{_NEW}"),
    ("move", rf"(?:move|rename)\s+{_THE_FILE}{PATH}\s+(?:to|as|into)\s+(?P<to>\S+)"),
    ("move", rf"把\s*{PATH}\s*(?:移动到|移到|重命名为|改名为)\s*(?P<to>\S+)"),
    ("delete", rf"(?:delete|remove)\s+{_THE_FILE}{PATH}"),
    ("delete", rf"删除(?:一下)?(?:文件)?\s*{PATH}"),
    (
        "write",
        rf"(?:write|create|make|save)\s+(?:me\s+)?(?:a\s+|the\s+)?(?:new\s+)?(?:text\s+)?file\s+(?:called\s+|named\s+)?"
        rf"{PATH}\s+(?:with|containing|that\s+says|saying)\s*{_CONTENT}{_REST}",
    ),
    ("write", rf"(?:write|save|put)\s+{_TEXT}\s+(?:to|into|in)\s+{_THE_FILE}{PATH}"),
    ("write", rf"(?:create|write)\s+{PATH}\s+(?:with|containing)\s*{_CONTENT}{_REST}"),
    (
        "write",
        rf"(?:写|创建|新建|生成)(?:一个|个)?(?:新)?(?:文件)?\s*{PATH}\s*[,，]?\s*(?:内容(?:为|是)?|写入|写上|写着)"
        rf"{_COLON}{_REST}",
    ),
    ("write", rf"把\s*{_TEXT}\s*(?:写入|写到|写进|保存到)\s*(?:文件)?\s*{PATH}"),
    (
        "glob",
        r"(?:find|list|show)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?files?\s+(?:named|matching|like|called)\s+(?P<text>\S+)",
    ),
    ("glob", r"(?:查找|列出|找出)(?:所有)?(?:名为|匹配)\s*(?P<text>\S+)\s*的文件"),
    (
        "list",
        r"(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:files|folders?|directory|contents)"
        r"(?:\s+(?:in|of|under)\s+(?:the\s+)?(?:folder\s+|directory\s+)?(?P<path>\S+))?(?:\s+(?:folder|directory))?",
    ),
    ("list", r"(?:ls|dir)(?:\s+(?P<path>\S+))?"),
    ("list", r"(?:what|which)\s+files(?:\s.*)?"),
    ("list", r"列出\s*(?P<path>[^\s的中里下]*?)\s*(?:中|里|下)?的?(?:所有|全部)?(?:文件|目录|内容)"),
    ("list", r"(?:这里|当前目录)?有(?:哪些|什么)文件.*"),
    (
        "search",
        rf"(?:(?:search|grep|find)(?:\s+for)?|look\s+for)\s+(?:the\s+)?(?:word\s+|text\s+|string\s+)?{_TEXT}"
        r"(?:\s+(?:in|under|inside)\s+(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?(?P<path>\S+))?",
    ),
    ("search", rf"在\s*(?P<path>\S+?)\s*(?:中|里|下)(?:搜索|查找|搜|找)(?:一下)?\s*{_REST}"),
    ("search", rf"(?:搜索|查找|搜一下|搜|找一下|找)(?:一下)?\s*{_REST}"),
    (
        "read",
        r"(?:read|show|open|cat|print|display|view|look\s+at|see)\s+(?:me\s+)?(?:what(?:'s|\s+is)\s+in\s+)?"
        rf"(?:the\s+)?(?:file\s+|contents?\s+of\s+)?{PATH}(?:\s+(?:file|please|again|for\s+me))?",
    ),
    ("read", rf"(?:读取|阅读|打开|查看|看看|看一下|显示|读一下|读)(?:一下)?(?:文件)?\s*{PATH}(?:\s*的?内容)?"),
)
