/** The pages of the reference: their addresses, tables of contents and texts. */
import { isCallable, type ReferenceOperation } from '../operation.ts'
import { TAG_DESCRIPTIONS } from '../tags.ts'
import { renderFrame, type SearchFiles } from './frame.ts'
import { type Html, html } from './html.ts'
import { listTopics, type Topic } from './introduction.ts'
import { renderOperation } from './operation.ts'

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
  search?: SearchFiles,
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
  const frame = renderFrame({
    title: page.title,
    area: page.isAdmin ? 'admin' : 'api',
    contents: renderContents(topics, own),
    content,
    search,
  })
  return relink(frame.text, pages, page)
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
  return html`<h2>Basics</h2>
<ul data-group="">${topics.map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  )}</ul>
${lists}`
}

function renderTopic({ id, title, content }: Topic): Html {
  return html`<section class="topic" id="${id}">
<h2><a href="#${id}">${title}</a></h2>
${content}
</section>`
}
