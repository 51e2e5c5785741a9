import { words } from '$/i18n/translate'

export default words({
  en: {
    unreachable: 'The server cannot be reached. Is `holdfast serve` still running?',
    notFound: 'That is not there (any more).',
    noSession: 'There is no such session (any more).',
    noThread: 'There is no such conversation (any more).',
    busy: 'The server is busy with something like this already. Try again in a moment.',
    timedOut: 'It took too long and was given up. Try again.',
  },
  zh: {
    unreachable: '无法连接服务器。`holdfast serve` 还在运行吗？',
    notFound: '该内容不存在（或已不存在）。',
    noSession: '该会话不存在（或已不存在）。',
    noThread: '该对话不存在（或已不存在）。',
    busy: '服务器正忙于同类任务，请稍后重试。',
    timedOut: '耗时过长，已放弃。请重试。',
  },
})
