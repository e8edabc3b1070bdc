/** The keys of an account as choices: the newest ones, and all that a typed text finds. */
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'

const KEYS_OFFERED = 200
const PAUSE_MS = 300

/** `chosen` is the id of a key, which is always among the choices, or ''. */
export function useKeyChoice(chosen: string) {
  const { id } = useAccount()
  const params = { account_id: id }
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, PAUSE_MS)
  const query = { limit: KEYS_OFFERED, ...(search ? { search } : {}) }
  const list = useAdmin('GET /accounts/:account_id/keys', { params, query }, { keepPrevious: true })
  const found = list.data?.data ?? []
  const isFound = found.some((key) => key.id === chosen)
  const other = useAdmin(
    'GET /accounts/:account_id/keys/:key_id',
    { params: { ...params, key_id: chosen } },
    { enabled: chosen !== '' && list.data !== undefined && !isFound },
  )
  const keys = isFound || !other.data || chosen === '' ? found : [...found, other.data]
  const options = keys.map(({ id: value, name, display, replaced_by: replacedBy }) => ({
    value,
    label: name ? `${name} · ${display}` : display,
    isReplaced: replacedBy !== null,
  }))
  const isKnown = chosen === '' || keys.some((key) => key.id === chosen)
  return {
    keys,
    options: isKnown ? options : [...options, { value: chosen, label: chosen, isReplaced: false }],
    /** The label of a choice is what a field shows, and no search. */
    onSearch(text: string) {
      setTyped(options.some(({ label }) => label === text) ? '' : text.trim())
    },
  }
}
