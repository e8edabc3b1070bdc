/**
 * The reference page: one self-contained document without scripts, images or external resources, so
 * that its Content-Security-Policy forbids everything except its own style.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReferenceOperation } from '../operation.ts'
import { Html, html } from './html.ts'
import { listTopics, type Topic } from './introduction.ts'
import { renderOperation } from './operation.ts'

const STYLE = ['frame.css', 'content.css']
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('')
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; ` +
    "form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** Renders the page, without endpoints that always refuse; the OpenAPI document has those too. */
export function renderPage(operations: readonly ReferenceOperation[], publicUrl: string): string {
  const groups = groupByTag(operations.filter(isUsable))
  const topics = listTopics(publicUrl)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tributary API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="#top" id="top">${RIVER}Tributary</a>
<span class="what">API reference</span>
<a class="machine" href="/openapi.json">openapi.json</a></header>
<div class="frame">
<details class="contents"><summary>Contents</summary>${renderContents(topics, groups)}</details>
<main id="content">
${topics.map(renderTopic)}
${groups.map(([tag, members]) => renderGroup(tag, members, publicUrl))}
</main>
</div>
</body>
</html>
`
  return page.text
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

function renderContents(topics: readonly Topic[], groups: readonly Group[]): Html {
  const lists = groups.map(([tag, operations]) => {
    const lines = operations.map(
      ({ id, method, summary }) => html`<li><a href="#${id}">${summary}
<span class="method ${method.toLowerCase()}">${method}</span></a></li>`,
    )
    return html`<h2>${tag}</h2><ul>${lines}</ul>`
  })
  return html`<nav aria-label="Contents">
<h2>Basics</h2>
<ul>${topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${lists}
</nav>`
}

function renderTopic({ id, title, content }: Topic): Html {
  return html`<section class="topic" id="${id}">
<h2><a href="#${id}">${title}</a></h2>
${content}
</section>`
}

function renderGroup(
  tag: string,
  operations: readonly ReferenceOperation[],
  publicUrl: string,
): Html {
  return html`<h2 class="group">${tag}</h2>
${operations.map((operation) => renderOperation(operation, publicUrl))}`
}

/** Returns false for an endpoint that always refuses, which only some clients try. */
function isUsable({ answer, answersNothing }: ReferenceOperation): boolean {
  return answer !== undefined || answersNothing
}
