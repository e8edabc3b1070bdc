/** Note under the name of a new account: others have it already, which is allowed. */
import { useDebouncedValue } from '@mantine/hooks'
import { shortId } from '../../components/text/name-account.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const PAUSE_MS = 300
const LIMIT = 100

const plain = (name: string) => name.trim().toLowerCase()

/** Not refused: a customer who pays in two currencies has two accounts. */
export function SameNameNote({ name }: { readonly name: string }) {
  const t = useMessages(messages)
  const [search] = useDebouncedValue(name.trim(), PAUSE_MS)
  const query = { search, limit: LIMIT }
  const { data } = useAdmin('GET /operator/accounts', { query }, { enabled: search !== '' })
  const same = (data?.data ?? []).filter((account) => plain(account.name) === plain(search))
  if (same.length === 0 || plain(search) !== plain(name)) return null
  const accounts = same.map(({ id, currency }) => `${shortId(id)} (${currency})`).join(', ')
  return t('sameName', { accounts })
}
