/** Reads the tables of docs/shard-clean.md, the one list of statements that name no account. */
import { readText } from '../../tidy/read-tree.ts'

const PAGE = 'docs/shard-clean.md'

export interface Exception {
  /** A file, or a folder with a slash at its end. */
  readonly file: string
  /** A function of it; undefined for all of them. */
  readonly name: string | undefined
}

export function readExceptions(): Exception[] {
  return rowsUnder('| File | Statements | Why | When accounts are spread |').flatMap((cells) => {
    const [file = '', names = '', why = '', spread = ''] = cells
    if (!why || !spread) throw new Error(`${PAGE}: ${file} lacks a reason, or how it is spread`)
    const all = names === 'all' ? [undefined] : names.split(', ')
    return all.map((name) => ({ file: file.replaceAll('`', ''), name }))
  })
}

/** Returns the names of tables that have no account of their own. */
export function readAccountless(): string[] {
  const lists = ['| Tables | Reached by |', '| Tables | What they are |'].flatMap(rowsUnder)
  return lists.flatMap(([names = '']) => names.replaceAll('`', '').split(', '))
}

/** Returns the cells of all tables with this heading. */
function rowsUnder(heading: string): string[][] {
  const parts = readText(PAGE).split(`${heading}\n`).slice(1)
  if (parts.length === 0) throw new Error(`${PAGE} has no table ${heading}`)
  return parts.flatMap((part) => {
    const lines = part.split('\n')
    const rows = lines.slice(
      1,
      lines.findIndex((line) => !line.startsWith('|')),
    )
    return rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  })
}

export function covers({ file, name }: Exception, place: string): boolean {
  const [path = '', owner] = place.split(' ')
  const isThere = file.endsWith('/') ? path.startsWith(file) : path === file
  return isThere && (name === undefined || name === owner)
}
