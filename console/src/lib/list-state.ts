/** Keeps the filters and the open row of a list in the URL. */
import { useUrlState } from './url-state.ts'

type Values<Name extends string> = Readonly<Record<Name, string>>

/** Value of a filter's field. */
interface Field {
  readonly value: string
  readonly onChange: (value: string) => void
}

export interface ListState<Name extends string> {
  /** '' where nothing is chosen. */
  readonly filters: Values<Name>
  readonly isFiltered: boolean
  readonly field: (name: Name) => Field
  /** Sets several at once. */
  readonly setFilters: (changes: Partial<Values<Name>>) => void
  readonly clearFilters: () => void
  /** '' when no row is open. */
  readonly openId: string
  readonly open: (id: string) => void
  readonly close: () => void
}

/** `opens` names the parameter of the open row, where `id` is a filter's name. */
export function useListState<const Name extends string>(
  names: readonly Name[],
  opens = 'id',
): ListState<Name> {
  const { values, set, push } = useUrlState<string>([...names, opens])
  const fill = (read: (name: Name) => string) =>
    Object.fromEntries(names.map((name) => [name, read(name)])) as Values<Name>
  const filters = fill((name) => values[name] ?? '')
  return {
    filters,
    isFiltered: names.some((name) => filters[name] !== ''),
    field: (name) => ({ value: filters[name], onChange: (value) => set({ [name]: value }) }),
    setFilters: (changes) => set(changes),
    clearFilters: () => set(fill(() => '')),
    openId: values[opens] ?? '',
    open: (id) => push({ [opens]: id }),
    close: () => push({ [opens]: '' }),
  }
}
