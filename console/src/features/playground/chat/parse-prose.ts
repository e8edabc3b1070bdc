/**
 * Parses the most common Markdown into blocks: paragraphs, headings, lists, code. Anything else
 * stays plain text. Nothing is interpreted as HTML.
 */

export type ProseBlock =
  | { readonly kind: 'text' | 'heading'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }

export interface ProseSpan {
  readonly kind: 'plain' | 'code' | 'strong'
  readonly text: string
}

const FENCE = /^\s*```/
const HEADING = /^#{1,6}\s+(.*)$/
const ITEM = /^\s*(?:([-*•])|(\d{1,3})[.)])\s+(.*)$/

/** Reads an open fence to the end: the answer is still arriving. */
export function parseProse(text: string): ProseBlock[] {
  const blocks: ProseBlock[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    if (FENCE.test(line)) {
      const end = findFrom(lines, at + 1, FENCE)
      blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') })
      at = end + 1
      continue
    }
    addLine(blocks, line, at > 0 && lines[at - 1]?.trim() === '')
    at += 1
  }
  return blocks
}

function findFrom(lines: readonly string[], from: number, pattern: RegExp): number {
  const found = lines.findIndex((line, at) => at >= from && pattern.test(line))
  return found < 0 ? lines.length : found
}

function addLine(blocks: ProseBlock[], line: string, isApart: boolean): void {
  const heading = HEADING.exec(line)?.[1]
  const [, , number, item] = ITEM.exec(line) ?? []
  const last = blocks.at(-1)
  if (line.trim() === '') return
  if (heading !== undefined) blocks.push({ kind: 'heading', text: heading })
  else if (item !== undefined) addItem(blocks, last, item, number !== undefined)
  else if (last?.kind === 'text' && !isApart) {
    blocks[blocks.length - 1] = { kind: 'text', text: `${last.text}\n${line}` }
  } else blocks.push({ kind: 'text', text: line })
}

function addItem(
  blocks: ProseBlock[],
  last: ProseBlock | undefined,
  item: string,
  isOrdered: boolean,
) {
  if (last?.kind !== 'list' || last.isOrdered !== isOrdered) {
    blocks.push({ kind: 'list', isOrdered, items: [item] })
    return
  }
  blocks[blocks.length - 1] = { ...last, items: [...last.items, item] }
}

/** Parses `code` and **strong** within a line. */
export function parseSpans(text: string): ProseSpan[] {
  return text
    .split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.length > 2 && part.startsWith('`') && part.endsWith('`')) {
        return { kind: 'code', text: part.slice(1, -1) }
      }
      const isStrong = part.length > 4 && part.startsWith('**') && part.endsWith('**')
      return isStrong ? { kind: 'strong', text: part.slice(2, -2) } : { kind: 'plain', text: part }
    })
}
