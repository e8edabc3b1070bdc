/** One key: its limits, its use, and its actions. */
import { Loader } from '@mantine/core'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FieldFacts } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { KEY_FIELDS } from './fields.tsx'
import { KeyActions } from './key-actions.tsx'
import { messages } from './messages.ts'

interface KeyDrawerProps {
  /** '' while none is open. */
  readonly id: string
  readonly onClose: () => void
}

export function KeyDrawer({ id, onClose }: KeyDrawerProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const balance = useAdmin('GET /accounts/:account_id/balance', {
    params: { account_id: account.id },
  })
  const currency = balance.data?.currency
  const key = useAdmin(
    'GET /accounts/:account_id/keys/:key_id',
    { params: { account_id: account.id, key_id: id } },
    { enabled: id !== '', live: ['usage'] },
  )
  const title = key.data ? key.data.name || t('unnamed') : t('key')
  return (
    <DetailDrawer isOpen={id !== ''} title={title} onClose={onClose}>
      {key.data && currency ? (
        <>
          <KeyActions key={key.data.id} apiKey={key.data} currency={currency} />
          <FieldFacts messages={messages} fields={KEY_FIELDS} row={key.data} currency={currency} />
        </>
      ) : null}
      {key.isPending || balance.isPending ? <Loader size="sm" /> : null}
      {key.error ? <ErrorState error={key.error} onRetry={() => void key.refetch()} /> : null}
      {balance.error ? (
        <ErrorState error={balance.error} onRetry={() => void balance.refetch()} />
      ) : null}
    </DetailDrawer>
  )
}
