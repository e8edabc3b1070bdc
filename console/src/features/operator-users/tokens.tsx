/** The access tokens of all users, and their revocation. */
import { Button, Group, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './token-messages.ts'

const LIST = 'GET /operator/tokens'
type Token = RowOf<typeof LIST>

const TONES: Readonly<Record<Token['state'], Tone>> = {
  active: 'good',
  expired: 'warning',
  revoked: 'quiet',
}

const FIELDS: RowFields<Token, (typeof messages)['en']> = [
  { key: 'name' },
  { key: 'email' },
  { key: 'display', word: 'token', as: 'mono', minor: true },
  {
    word: 'scope',
    show: ({ scope, sensitive }, { t }) => `${t(scope)}${sensitive ? `, ${t('sensitive')}` : ''}`,
  },
  {
    word: 'state',
    show: ({ state }, { t }) => <StatusBadge tone={TONES[state]} label={t(state)} />,
  },
  { key: 'last_used_at', word: 'used', as: 'ago', minor: true, absent: 'never' },
  { key: 'expires_at', word: 'expires', as: 'time', minor: true, absent: 'never' },
]

export function AllTokens() {
  const t = useMessages(messages)
  const pages = useAdminPages(LIST, {})
  const [revoked, setRevoked] = useState<Token>()
  const revoke = useAdminChange('DELETE /operator/tokens/:token_id')
  const acts: RowFields<Token, (typeof messages)['en']> = [
    {
      align: 'right',
      wide: true,
      show: (row) => (row.state === 'active' ? <Revoke onClick={() => setRevoked(row)} /> : null),
    },
  ]
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h3">
        {t('title')}
      </Title>
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(messages, [...FIELDS, ...acts])}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="key" title={t('emptyTitle')}>
            {t('emptyText')}
          </EmptyState>
        }
      />
      <ConfirmDialog
        isOpen={revoked !== undefined}
        title={t('revokeTitle', { name: revoked?.name ?? '', email: revoked?.email ?? '' })}
        act={t('revoke')}
        isDangerous
        onConfirm={() => revoke.mutateAsync({ params: { token_id: revoked?.id ?? '' } })}
        onClose={() => setRevoked(undefined)}
      >
        {t('revokeText')}
      </ConfirmDialog>
    </Stack>
  )
}

function Revoke({ onClick }: { readonly onClick: () => void }) {
  const t = useMessages(messages)
  return (
    <Group justify="flex-end">
      <Button variant="subtle" size="compact-xs" onClick={onClick}>
        {t('revoke')}
      </Button>
    </Group>
  )
}
