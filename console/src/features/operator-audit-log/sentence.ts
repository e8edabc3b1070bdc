/** An entry of the audit log as a sentence: who did what to what. */
import { fillText, useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages as acts } from './act-messages.ts'
import { messages } from './messages.ts'

export type LogEntry = RowOf<'GET /operator/audit-log'>

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

/** Returns what was done; an unknown action as the log names it. */
export function useAct(): (row: LogEntry) => string {
  const { language } = useLanguage()
  const t = useMessages(messages)
  const done = ({ action, target, details }: LogEntry) => {
    if (!isKnown(action)) return target ? `${action} ${target}` : action
    const values: Record<string, string> = { target }
    for (const name of ['reason', 'amount', 'account', 'count', 'currency', 'email', 'role']) {
      values[name] = toText(details[name])
    }
    values.key_id = toText(details.key_id)
    values.name = toText(details.name)
    values.models = toText(details.models)
    return fillText(acts[language][action], values).replace(/[:：]\s*$/, '')
  }
  return (row) => (wasDone(row) ? done(row) : t('attempted', { act: done(row) }))
}

/** Refusals are in the log too: they must not read as if something had happened. */
export function wasDone({ details: { outcome = 'done' } }: LogEntry): boolean {
  return outcome === 'done'
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export interface ShownChange {
  readonly path: string
  readonly from: string
  readonly to: string
}

/** Returns the values before and after, where the entry has them. */
export function changesOf({ details }: LogEntry): readonly ShownChange[] {
  const { differences, before } = details
  if (Array.isArray(differences)) {
    return differences.filter(isRecord).map(({ path, from, to }) => ({
      path: toText(path),
      from: toText(from),
      to: toText(to),
    }))
  }
  if (!isRecord(before)) return []
  return Object.entries(before)
    .filter(([name]) => details[name] !== undefined)
    .map(([name, value]) => ({
      path: name,
      from: show(value),
      to: show(isRecord(value) ? { ...value, ...asRecord(details[name]) } : details[name]),
    }))
    .filter(({ from, to }) => from !== to)
}

const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const asRecord = (value: unknown) => (isRecord(value) ? value : {})

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
