/** Markdown to the HTML of a page, and the sections that the search knows. */
import { Marked, Renderer, type Tokens } from 'marked'
import { codeBlock } from '../../server/api/endpoints/reference/page/code.ts'
import { html } from '../../server/api/endpoints/reference/page/html.ts'
import type { Target } from './pages.ts'
import { slugOf } from './slug.ts'

export interface Section {
  /** Empty for what stands before the first heading. */
  readonly id: string
  readonly heading: string
  readonly text: string
}

export interface RenderedPage {
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
  /** The headings of the second level, for the contents. */
  readonly headings: readonly { readonly id: string; readonly title: string }[]
}

export interface PageLinks {
  readonly resolve: (link: string) => Target
  /** Puts a picture into the site, and returns its address. */
  readonly addPicture: (path: string) => string
}

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  yaml: 'YAML',
  toml: 'TOML',
  nginx: 'nginx',
}

/** What a page may have of HTML: pictures, and line breaks in tables. */
const KNOWN_HTML = /^<\/?(?:picture|source|img|p|br|a|sub|sup|kbd)\b|^<!--/i

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

function decode(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}

const plainOf = (markup: string) => decode(markup.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ')

/** Renders a page. */
export function renderMarkdown(markdown: string, links: PageLinks): RenderedPage {
  const marked = new Marked({
    gfm: true,
    renderer: createRenderer(links),
    // A URL in running text is an example more often than a place to go to.
    tokenizer: { url: () => undefined },
  })
  const used = new Map<string, number>()
  const sections: { id: string; heading: string; text: string }[] = []
  const headings: { id: string; title: string }[] = []
  let title = ''
  const parts = marked.lexer(markdown).map((token) => {
    const markup = marked.parser([token])
    if (token.type !== 'heading') {
      const last = sections.at(-1)
      if (last) last.text += ` ${plainOf(markup)}`
      return markup
    }
    const { depth, text } = token as Tokens.Heading
    const name = plainOf(markup).trim()
    const slug = slugOf(text)
    const before = used.get(slug) ?? 0
    used.set(slug, before + 1)
    const id = before === 0 ? slug : `${slug}-${before}`
    if (depth === 1 && title === '') title = name
    if (depth === 2) headings.push({ id, title: name })
    sections.push({ id: depth === 1 ? '' : id, heading: depth === 1 ? '' : name, text: '' })
    return depth === 1 ? markup : withAnchor(markup, id, name)
  })
  return { title, html: parts.join(''), headings, sections: sections.map(trimText) }
}

function trimText(section: Section): Section {
  return { ...section, text: section.text.replace(/\s+/g, ' ').trim() }
}

function withAnchor(markup: string, id: string, name: string): string {
  const anchor = html` <a class="anchor" href="#${id}" aria-label="Link to “${name}”">#</a>`
  return markup
    .replace(/^<(h\d)>/, (_, tag: string) => html`<${tag} id="${id}">`.text)
    .replace(/<\/(h\d)>\s*$/, (end) => anchor.text + end)
}

function createRenderer({ resolve, addPicture }: PageLinks): Partial<Renderer> {
  const plain = new Renderer()
  return {
    code({ text, lang = '' }: Tokens.Code) {
      return codeBlock(LANGUAGES[lang] ?? 'Text', text).text
    },
    link(this: Renderer, { href, tokens }: Tokens.Link) {
      const content = this.parser.parseInline(tokens)
      const target = resolve(href)
      if (target.kind === 'source') return content
      const address = target.kind === 'file' ? addPicture(target.path) : target.href
      return `${html`<a href="${address}">`.text}${content}</a>`
    },
    image({ href, text }: Tokens.Image) {
      const target = resolve(href)
      const address = target.kind === 'file' ? addPicture(target.path) : href
      return html`<img src="${address}" alt="${text}" loading="lazy">`.text
    },
    table(this: Renderer, token: Tokens.Table) {
      plain.parser = this.parser
      const markup = plain.table(token)
      return `<div class="wide" tabindex="0" role="region" aria-label="Table">${markup}</div>`
    },
    html({ text }: Tokens.HTML | Tokens.Tag) {
      if (!KNOWN_HTML.test(text)) return html`${text}`.text
      return text.replace(/\b(src|srcset|href)="([^"]*)"/g, (_, name: string, link: string) => {
        const target = resolve(link)
        const address = target.kind === 'file' ? addPicture(target.path) : link
        return html`${name}="${address}"`.text
      })
    },
  }
}
