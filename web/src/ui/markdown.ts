// Markdown of a model, a tool or a file is hostile text: marked makes HTML of it, DOMPurify leaves what can do no harm.
import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escape = (text: string) => text.replace(/[&<>"']/g, (mark) => escapes[mark]!)

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    // Raw HTML is shown as the text it is.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    // An image would tell a stranger that the page was opened; its address stands there as a link instead.
    image: ({ href, text }: Tokens.Image) => `<a href="${escape(href)}">${escape(text || href)}</a>`,
    code({ text, lang }: Tokens.Code) {
      const name = (lang ?? '').split(/\s/)[0] ?? ''
      return `<pre tabindex="0" data-lang="${escape(name)}"><code>${escape(text)}</code></pre>`
    },
    table(token: Tokens.Table) {
      const cell = (one: Tokens.TableCell, tag: string) => `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`
      const head = token.header.map((one) => cell(one, 'th')).join('')
      const rows = token.rows.map((row) => `<tr>${row.map((one) => cell(one, 'td')).join('')}</tr>`).join('')
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`
    },
    // One level for all, told apart by looks: a reply's own levels know nothing of the page around it.
    heading({ tokens, depth }: Tokens.Heading) {
      return `<h2 data-level="${depth}">${this.parser.parseInline(tokens)}</h2>`
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
})

const ALLOWED_TAGS = [
  'a', 'b', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'li', 'ol',
  'p', 'pre', 's', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
]
const ALLOWED_ATTR = ['href', 'start', 'tabindex', 'data-lang', 'data-level', 'class']

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('rel', 'noopener noreferrer nofollow')
    node.setAttribute('target', '_blank')
  }
  if (node.hasAttribute('class') && node.getAttribute('class') !== 'table') node.removeAttribute('class')
})

export function toHtml(text: string): string {
  return DOMPurify.sanitize(marked.parse(text) as string, {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
    ALLOW_DATA_ATTR: false,
  })
}

/** The blocks of a text, so that a growing reply renders its last block only. */
export function blocks(text: string): string[] {
  return marked.lexer(text).map((token) => token.raw)
}
