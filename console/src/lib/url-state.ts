/** Keeps filters and open details in the URL, so that views can be linked and revisited. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useIsShown } from './hooks/use-is-shown.ts'

/** Returns a page's parameters as strings: absent ones are ''. Changing one keeps the others. */
export function useUrlState<const Name extends string>(names: readonly Name[]) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const entries = names.map((name) => [name, String(search[name] ?? '')] as const)
  const values = Object.fromEntries(entries) as Readonly<Record<Name, string>>
  const isShown = useIsShown()
  const change = (changes: Partial<Readonly<Record<Name, string>>>, kind: 'replace' | 'push') => {
    // What was saved after its page was left must not open there where somebody is by now.
    if (!isShown.current) return
    void navigate({
      to: '.',
      search: (now: Readonly<Record<string, unknown>>) => prune({ ...now, ...changes }),
      replace: kind === 'replace',
    })
  }
  return {
    values,
    /** Replaces the history entry, for filters. */
    set: (changes: Partial<Readonly<Record<Name, string>>>) => change(changes, 'replace'),
    /** Adds a history entry, for opened details: Back closes them. */
    push: (changes: Partial<Readonly<Record<Name, string>>>) => change(changes, 'push'),
  }
}

function prune(search: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
}

/** Opens another page: `goTo('/usage', { key: id })`. A link is better where there is one. */
export function useGoTo() {
  const navigate = useNavigate()
  return (to: string, search: Readonly<Record<string, string>> = {}) =>
    void navigate({ to, search })
}
