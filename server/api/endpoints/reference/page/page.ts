/**
 * The reference's pages: self-contained documents without images or external resources, so that
 * their Content-Security-Policy forbids everything except their own style and script.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCallable, type ReferenceOperation } from '../operation.ts'
import { TAG_DESCRIPTIONS } from '../tags.ts'
import { Html, html } from './html.ts'
import { listTopics, type Topic } from './introduction.ts'
import { renderOperation } from './operation.ts'

const STYLE = ['frame.css', 'content.css']
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('')
const SCRIPT = readFileSync(join(import.meta.dirname, 'script.js'), 'utf8')
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')
const STYLE_HASH = hashOf(STYLE)
const SCRIPT_HASH = hashOf(SCRIPT)

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
    `script-src 'sha256-${SCRIPT_HASH}'; base-uri 'none'; ` +
    "form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** A page of the reference: `''` and `admin` have the contents, the others one group each. */
export interface ReferencePage {
  readonly slug: string
  readonly title: string
  readonly isAdmin: boolean
  /** None on the pages with the contents. */
  readonly operations: readonly ReferenceOperation[]
}

const ADMIN_TAG = /^(?:Console|Operators): /

/** Lists the pages. */
export function listReferencePages(operations: readonly ReferenceOperation[]): ReferencePage[] {
  const groups = groupByTag(operations.filter(isCallable)).map(([tag, members]) => ({
    slug: tag
      .toLowerCase()
      .replace(/[^a-z\d]+/g, '-')
      .replace(/^-|-$/g, ''),
    title: tag,
    isAdmin: ADMIN_TAG.test(tag),
    operations: members,
  }))
  return [
    { slug: '', title: 'API reference', isAdmin: false, operations: [] },
    { slug: 'admin', title: 'Admin API', isAdmin: true, operations: [] },
    ...groups,
  ]
}

/** Returns the path of a page. */
export function pathOf({ slug }: Pick<ReferencePage, 'slug'>): string {
  return slug === '' ? '/docs' : `/docs/${slug}`
}

/** Renders one of the pages. */
export function renderPage(
  pages: readonly ReferencePage[],
  page: ReferencePage,
  publicUrl: string,
): string {
  const topics = listTopics(publicUrl)
  const own = pages.filter(({ isAdmin, operations }) => {
    return isAdmin === page.isAdmin && operations.length > 0
  })
  const content =
    page.slug === ''
      ? html`<h1>${page.title}</h1>${topics.map(renderTopic)}`
      : html`<h1>${page.title}</h1>
${page.operations.length > 0 ? html`<p>${TAG_DESCRIPTIONS[page.title]}</p>` : undefined}
${page.slug === 'admin' ? html`<p>${ADMIN_TEXT}</p>${renderIndex(own)}` : undefined}
${page.operations.map((operation) => renderOperation(operation, publicUrl))}`
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${page.title} · Tributary</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="/docs" id="top">${RIVER}Tributary</a>
<a class="what" href="/docs">API reference</a>
<a class="machine" href="/docs/admin">Admin API</a>
<a class="machine" href="/openapi.json" download>openapi.json</a></header>
<div class="frame">
<details class="contents" tabindex="0">
<summary>Contents</summary>${renderContents(topics, own)}</details>
<main id="content">
${content}
</main>
</div>
<script type="module">${new Html(SCRIPT)}</script>
</body>
</html>
`.text
  return relink(text, pages, page)
}

const ADMIN_TEXT =
  'What the console calls, for scripts with an access token. Customers’ calls are in the API ' +
  'reference. The examples read the token and ids from variables, for example TOKEN and ' +
  'ACCOUNT_ID; calls that take no token read SESSION, the value of a sign-in’s cookie.'

/** Points links to a topic or an endpoint at the page that has it. */
function relink(text: string, pages: readonly ReferencePage[], { slug }: ReferencePage): string {
  const places = new Map(
    pages.flatMap((page) => page.operations.map(({ id }) => [id, page] as const)),
  )
  const [first] = pages
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(({ 1: id }) => id))
  return text.replace(/href="#([^"]+)"/g, (link, id: string) => {
    const page = places.get(id) ?? first
    const isHere = ids.has(id) || page === undefined || page.slug === slug
    return isHere ? link : `href="${pathOf(page)}#${id}"`
  })
}

function renderIndex(pages: readonly ReferencePage[]): Html {
  return html`<ul>${pages.map(
    (page) =>
      html`<li><a href="${pathOf(page)}">${page.title}</a>: ${TAG_DESCRIPTIONS[page.title]}</li>`,
  )}</ul>`
}

/** The logo: two streams that join. */
const RIVER = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
<path d="M5 2c0 8 7 7 7 13v7M19 2c0 5-3 7-5.5 9" fill="none" stroke="currentColor"
stroke-width="2.6" stroke-linecap="round"/></svg>`

type Group = readonly [tag: string, operations: readonly ReferenceOperation[]]

/** Groups operations by tag, in the order of the first operation of each. */
function groupByTag(operations: readonly ReferenceOperation[]): Group[] {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return tags.map((tag) => [tag, operations.filter((one) => one.tag === tag)])
}

function renderContents(topics: readonly Topic[], pages: readonly ReferencePage[]): Html {
  const lists = pages.map((page) => {
    const lines = page.operations.map(
      ({ id, method, summary }) => html`<li><a href="#${id}">${summary}
<span class="method ${method.toLowerCase()}">${method}</span></a></li>`,
    )
    return html`<h2><a href="${pathOf(page)}">${page.title}</a></h2>
<ul data-group="${page.title}">${lines}</ul>`
  })
  return html`<nav aria-label="Contents">
<input id="search" type="search" placeholder="Search calls" aria-label="Search calls" hidden>
<h2>Basics</h2>
<ul data-group="">${topics.map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  )}</ul>
${lists}
</nav>`
}

function renderTopic({ id, title, content }: Topic): Html {
  return html`<section class="topic" id="${id}">
<h2><a href="#${id}">${title}</a></h2>
${content}
</section>`
}
