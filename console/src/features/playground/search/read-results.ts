/** Reads the results of both search products. */

export interface SearchHit {
  readonly title: string
  readonly url: string
  readonly site: string
  readonly text: string
  readonly published: string
}

export interface SearchResult {
  readonly found: readonly SearchHit[]
  readonly document: unknown
}

/** Missing members of an entry are empty; a response of another shape has no entries. */
export function readResults(document: unknown): SearchResult {
  const result = member(document, 'Result')
  const entries = [...listOf(member(result, 'WebResults')), ...listOf(member(result, 'Documents'))]
  return { document, found: entries.map(readEntry) }
}

function readEntry(entry: unknown): SearchHit {
  const url = textOf(entry, 'Url')
  const host = URL.parse(url)?.hostname ?? ''
  return {
    title: textOf(entry, 'Title') || url,
    // Only web addresses become links.
    url: /^https?:/i.test(url) ? url : '',
    site: textOf(entry, 'SiteName') || textOf(member(entry, 'HostInfo'), 'Hostname') || host,
    text: textOf(entry, 'Summary') || readSnippet(member(entry, 'Snippet')),
    published: (
      textOf(entry, 'PublishTime') || textOf(member(entry, 'DocumentInfo'), 'PublishTime')
    ).slice(0, 10),
  }
}

/** Reads a text, or joins the texts among its parts. */
function readSnippet(snippet: unknown): string {
  if (typeof snippet === 'string') return snippet
  return listOf(snippet)
    .map((part) => textOf(part, 'Text'))
    .filter(Boolean)
    .join(' ')
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

function textOf(value: unknown, name: string): string {
  const text = member(value, name)
  return typeof text === 'string' ? text : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
