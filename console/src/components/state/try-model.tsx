/** A link to the first call of a model, or why the chosen account cannot make it. */
import { Group, Text } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { ButtonLink } from '../links.tsx'
import { messages } from './try-model-messages.ts'

export function TryModel({ model }: { readonly model: string }) {
  const t = useMessages(messages)
  const { account } = useSession()
  const sold = useAdmin(
    'GET /accounts/:account_id/models',
    { params: { account_id: account?.id ?? '' }, query: { search: model, limit: 100 } },
    { enabled: account !== undefined },
  )
  const known = useAdmin('GET /operator/models/:model_id', { params: { model_id: model } })
  const currency = known.data?.currency ?? 'CNY'
  if (!known.data || (account && !sold.data)) return null
  if (account && sold.data?.data.some(({ id }) => id === model)) {
    return (
      <Group>
        <ButtonLink to="/playground" search={{ model }} size="compact-sm">
          {t('tryIt', { model })}
        </ButtonLink>
      </Group>
    )
  }
  return (
    <Group gap="xs">
      <Text size="sm">
        {account ? t('otherCurrency', { account: account.name, model }) : t('noAccount')}
      </Text>
      <ButtonLink
        to="/operator/accounts"
        search={{ add: currency }}
        size="compact-sm"
        variant="default"
      >
        {t('newAccount', { currency })}
      </ButtonLink>
    </Group>
  )
}
