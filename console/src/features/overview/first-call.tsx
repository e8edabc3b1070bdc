/** The charge of a new account's latest call, explained line by line. */
import { ActionIcon, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { Arithmetic } from '../../components/prices/arithmetic.tsx'
import { formatMoney } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { AccountOverview } from './answers.ts'
import { messages } from './messages.ts'

/** An account with more calls knows how they are charged. */
const CALLS_MAX = 3
const CLOSED = 'tributary.firstCallClosed'

export function FirstCall({ calls }: { readonly calls: AccountOverview['recent_calls'] }) {
  const { id } = useAccount()
  const [closedFor, close] = useState(() => localStorage.getItem(CLOSED))
  const [latest] = calls
  if (!latest || calls.length > CALLS_MAX || closedFor === id) return null
  return (
    <Explained
      requestId={latest.request_id}
      onClose={() => {
        localStorage.setItem(CLOSED, id)
        close(id)
      }}
    />
  )
}

interface ExplainedProps {
  readonly requestId: string
  readonly onClose: () => void
}

function Explained({ requestId, onClose }: ExplainedProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { id } = useAccount()
  const { data: call, isPending } = useAdmin(
    'GET /accounts/:account_id/usage/:request_id',
    { params: { account_id: id, request_id: requestId } },
    { live: ['usage'], keepPrevious: true },
  )
  if (isPending) return <Skeleton height={240} aria-busy />
  if (!call) return null
  const { currency, lines, held, charged, returned, model } = call
  const money = (amount: string) => formatMoney(amount, { currency, language })
  const closer = (
    <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label={t('hide')}>
      <Icon name="close" size={16} />
    </ActionIcon>
  )
  return (
    <Panel title={t('firstCallTitle')} aside={closer}>
      <Stack gap="sm">
        <Text size="sm">
          {t('firstCallHold', { model, held: money(held) })}{' '}
          {t('firstCallCharge', { charged: money(charged), returned: money(returned) })}
        </Text>
        {lines.length > 0 ? (
          <Arithmetic
            label={t('firstCallTitle')}
            lines={lines}
            total={charged}
            currency={currency}
          />
        ) : null}
        <TextLink to="/usage" search={{ id: requestId }} size="sm">
          {t('firstCallMore')}
        </TextLink>
      </Stack>
    </Panel>
  )
}
