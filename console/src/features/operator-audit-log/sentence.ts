/** An entry of the audit log as a sentence: who did what to what. */
import { fillText, useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages as acts } from './act-messages.ts'
import { messages } from './messages.ts'
import { type LogEntry, wordTarget, wordValue } from './wording.ts'

const CLI = /^cli(?::(.+))?$/

/** Names a person, a user of this machine's command line, or nobody. */
export function useActor(): (row: LogEntry) => string {
  const t = useMessages(messages)
  return ({ email, user_id: id }) => {
    if (email ?? !id) return email ?? t('nobody')
    const [isCli, name] = CLI.exec(id) ?? []
    return isCli ? t('onCommandLine', { name: name ?? '' }) : id
  }
}

function isKnown(action: string): action is keyof (typeof acts)['en'] {
  return Object.hasOwn(acts.en, action)
}

/** Members of the details that sentences name. */
const NAMED = [
  ...([
    'reason',
    'amount',
    'account',
    'count',
    'email',
    'role',
    'key_id',
    'name',
    'models',
  ] as const),
  'effective_from',
] as const

/** Returns what was done; an unknown action as the log names it. */
export function useAct(): (row: LogEntry) => string {
  const { language } = useLanguage()
  const t = useMessages(messages)
  const done = (row: LogEntry) => {
    const { action, details } = row
    const target = wordTarget(row)
    if (!isKnown(action)) return target ? `${action} ${target}` : action
    const values: Record<string, string> = { target }
    for (const path of NAMED) values[path] = wordValue(details[path], { path, row, language })
    return fillText(acts[language][action], values).replace(/[:：]\s*$/, '')
  }
  return (row) => (wasDone(row) ? done(row) : t('attempted', { act: done(row) }))
}

/** Refusals are in the log too: they must not read as if something had happened. */
export function wasDone({ details: { outcome = 'done' } }: LogEntry): boolean {
  return outcome === 'done'
}

export interface ShownChange {
  readonly path: string
  readonly from: string
  readonly to: string
}

/** Returns a function that lists the values before and after, where the entry has them. */
export function useChanges(): (row: LogEntry) => readonly ShownChange[] {
  const { language } = useLanguage()
  return (row) =>
    changesOf(row).map(({ path, from, to }) => ({
      path,
      from: wordValue(from, { path, row, language }),
      to: wordValue(to, { path, row, language }),
    }))
}

interface Change {
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

function changesOf({ details }: LogEntry): readonly Change[] {
  const { differences, before } = details
  if (Array.isArray(differences)) {
    return differences
      .filter(isRecord)
      .map(({ path, from, to }) => ({ path: String(path ?? ''), from, to }))
  }
  if (!isRecord(before)) return []
  return Object.entries(before)
    .filter(([name]) => details[name] !== undefined)
    .flatMap(([name, value]) => compare(name, value, details[name]))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
}

/** A group of limits is compared limit by limit; those that the change leaves out stay. */
function compare(path: string, from: unknown, to: unknown): readonly Change[] {
  if (!isRecord(from) || !isRecord(to)) return [{ path, from, to }]
  return Object.keys(to).map((name) => ({
    path: `${path}.${name}`,
    from: from[name] ?? null,
    to: to[name],
  }))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
