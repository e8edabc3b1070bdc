/** The built site of the documentation: guides, decisions and facts, framed as the reference is. */
import { join } from 'node:path'
import { openBuild } from '../../../base/http/built/files.ts'
import { sendBuiltFile } from '../../../base/http/built/send.ts'
import type { Context } from '../../../base/http/context.ts'
import { sendBytes } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { PAGE_HEADERS, renderFrame, type SearchFiles } from './page/frame.ts'
import { Html, html } from './page/html.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'dist')

/** The build's list of its pages, as scripts/site/main.ts writes it. */
export interface Site extends SearchFiles {
  readonly navigation: readonly {
    readonly title: string
    readonly pages: readonly { readonly address: string; readonly title: string }[]
  }[]
  readonly pages: Readonly<Record<string, SitePage>>
}

interface SitePage {
  readonly title: string
  readonly headings: readonly { readonly id: string; readonly title: string }[]
}

const readBuild = openBuild<Site>(FOLDER, 'site.json', JSON.parse)

const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Tributary</title>
<h1>The documentation is not built</h1><p>Run <code>npm run build</code> beside the gateway, then
load this page again. The <a href="/docs">API reference</a> works without it.</p>`

/** Resolves to undefined if the site is not built. */
export async function readSite(): Promise<Site | undefined> {
  return (await readBuild())?.main
}

/** Sends a page or a file of the site by its address below /docs/. */
export async function sendSite(context: Context, address: string): Promise<void> {
  const build = await readBuild()
  if (!build) return sendBytes(context, 503, PAGE_HEADERS, Buffer.from(NOT_BUILT))
  const asset = address.startsWith('assets/') ? build.files.get(address) : undefined
  if (asset) return sendBuiltFile(context, address, asset)
  const part = build.files.get(`pages/${address}.html`)
  const page = Object.hasOwn(build.main.pages, address) ? build.main.pages[address] : undefined
  if (!part || !page) throw new GatewayError('not_found', { message: 'no such page' })
  const text = renderSitePage(build.main, address, page, part.bodies.identity.toString())
  sendBytes(context, 200, PAGE_HEADERS, Buffer.from(text))
}

function renderSitePage(site: Site, address: string, page: SitePage, part: string): string {
  return renderFrame({
    title: page.title,
    area: 'guides',
    contents: renderNavigation(site, address, page),
    content: html`<article class="article">${new Html(part)}</article>`,
    search: site,
  }).text
}

/** The contents: all groups, and the parts of the page that is shown. */
function renderNavigation(site: Site, address: string, { headings }: SitePage): Html {
  const parts = headings.map(
    ({ id, title }) => html`<li><a class="part" href="#${id}">${title}</a></li>`,
  )
  return html`${site.navigation.map(
    ({ title, pages }) => html`<h2>${title}</h2>
<ul data-group="${title}">${pages.map((one) => {
      const isHere = one.address === address
      const mark = isHere ? html` class="here" aria-current="page"` : undefined
      return html`<li><a href="/docs/${one.address}"${mark}>${one.title}</a></li>
${isHere ? parts : undefined}`
    })}</ul>`,
  )}
<h2>Reference</h2>
<ul data-group="Reference"><li><a href="/docs">API</a></li>
<li><a href="/docs/admin">Admin API</a></li></ul>`
}
