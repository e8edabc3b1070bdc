/** Quotes the hold of a request through a dry run while the form is filled in. */
import { useDebouncedValue } from '@mantine/hooks'
import { useAccount } from '../../../../lib/session.tsx'
import { useAdmin } from '../../../../lib/use-admin.ts'
import type { PlaygroundRequest } from '../order.ts'

const QUIET_MS = 300
/** The admin API takes small bodies only; a larger request has no quote. */
const BODY_LENGTH_MAX = 500_000

export function useQuote(order: PlaygroundRequest | undefined) {
  const account = useAccount()
  const question = order && JSON.stringify(questionOf(order))
  const [settledQuestion] = useDebouncedValue(question, QUIET_MS)
  const isQuotable = settledQuestion !== undefined && settledQuestion.length < BODY_LENGTH_MAX
  const quote = useAdmin(
    'POST /accounts/:account_id/quote',
    {
      params: { account_id: account.id },
      body: isQuotable ? JSON.parse(settledQuestion) : { path: '', body: {} },
    },
    { enabled: isQuotable, keepPrevious: true, live: ['balance'] },
  )
  return { ...quote, isStale: settledQuestion !== question || quote.isPlaceholderData }
}

function questionOf({ path, query, headers, body, file }: PlaygroundRequest) {
  const measured = file && { bytes: file.content.size, head: file.head, tail: file.tail }
  return { path, query, headers, body, ...(measured ? { file: measured } : {}) }
}
