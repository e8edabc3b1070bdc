/** The access tokens of all users, and their revocation. */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
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

export function AllTokens() {
  const t = useMessages(messages)
  const pages = useAdminPages(LIST, {})
  const [revoked, setRevoked] = useState<Token>()
  const revoke = useAdminChange('DELETE /operator/tokens/:token_id')
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h3">
        {t('title')}
      </Title>
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(setRevoked)}
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

function useColumns(onRevoke: (token: Token) => void): Column<Token>[] {
  const t = useMessages(messages)
  return [
    { key: 'name', header: t('name'), render: (row) => row.name },
    { key: 'email', header: t('email'), render: (row) => row.email },
    {
      key: 'token',
      header: t('token'),
      render: (row) => (
        <Text component="span" size="xs" ff="monospace">
          {row.display}
        </Text>
      ),
      minor: true,
    },
    {
      key: 'scope',
      header: t('scope'),
      render: (row) => `${t(row.scope)}${row.sensitive ? `, ${t('sensitive')}` : ''}`,
    },
    {
      key: 'state',
      header: t('state'),
      render: (row) => <StatusBadge tone={TONES[row.state]} label={t(row.state)} />,
    },
    {
      key: 'used',
      header: t('used'),
      render: (row) => <TimeText time={row.last_used_at} form="relative" absent={t('never')} />,
      minor: true,
    },
    {
      key: 'expires',
      header: t('expires'),
      render: (row) => <TimeText time={row.expires_at} absent={t('never')} />,
      isTime: true,
      minor: true,
    },
    {
      key: 'acts',
      header: '',
      render: (row) =>
        row.state === 'active' ? (
          <Group justify="flex-end">
            <Button variant="subtle" size="compact-xs" onClick={() => onRevoke(row)}>
              {t('revoke')}
            </Button>
          </Group>
        ) : null,
      align: 'right',
      wide: true,
    },
  ]
}
