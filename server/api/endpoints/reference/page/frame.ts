/**
 * The frame of every page below /docs: its head, its contents, its style and script. The policy
 * forbids everything that is not this gateway's own.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Html, html } from './html.ts'

const STYLE = ['frame.css', 'content.css', 'article.css']
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('')
const SCRIPT = readFileSync(join(import.meta.dirname, 'script.js'), 'utf8')
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${hashOf(STYLE)}'; ` +
    `script-src 'sha256-${hashOf(SCRIPT)}' 'self'; img-src 'self'; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** The addresses of what the search over all pages reads; absent without a built site. */
export interface SearchFiles {
  readonly sections: string
  readonly engine: string
}

interface Frame {
  readonly title: string
  readonly area: 'guides' | 'api' | 'admin'
  /** Lists with headings. */
  readonly contents: Html
  readonly content: Html
  readonly search: SearchFiles | undefined
}

const AREAS = [
  { area: 'guides', href: '/docs/guides', title: 'Guides' },
  { area: 'api', href: '/docs', title: 'API reference' },
  { area: 'admin', href: '/docs/admin', title: 'Admin API' },
] as const

/** Renders a whole page. */
export function renderFrame({ title, area, contents, content, search }: Frame): Html {
  const data = search && html` data-sections="${search.sections}" data-engine="${search.engine}"`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Tributary</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${new Html(STYLE)}</style>
</head>
<body${data}>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="/docs" id="top"
aria-label="Tributary">${RIVER}<span>Tributary</span></a>
<div class="areas">${AREAS.map(
    ({ area: one, href, title: name }) =>
      html`<a href="${href}"${one === area ? html` aria-current="true"` : undefined}>${name}</a>`,
  )}</div>
<a class="machine" href="/openapi.json" download>openapi.json</a></header>
<div class="frame">
<details class="contents" tabindex="0">
<summary>Contents and search</summary><nav aria-label="Contents">
<input id="search" type="search" placeholder="Search guides and calls" aria-label="Search"
autocomplete="off" hidden>
<ul id="found" aria-label="Found" hidden></ul>
${contents}
</nav></details>
<main id="content">
${content}
</main>
</div>
<script type="module">${new Html(SCRIPT)}</script>
</body>
</html>
`
}

/** The logo: two streams that join. */
const RIVER = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
<path d="M5 2c0 8 7 7 7 13v7M19 2c0 5-3 7-5.5 9" fill="none" stroke="currentColor"
stroke-width="2.6" stroke-linecap="round"/></svg>`
