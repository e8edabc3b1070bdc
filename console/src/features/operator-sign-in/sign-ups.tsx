/** The list of sign-ups, from which operators stop abuse. */
import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/sign-ups'
type SignUp = RowOf<typeof KEY>
type Words = (typeof messages)['en']

const FIELDS: RowFields<SignUp, Words> = [
  { key: 'email' },
  { key: 'network', as: 'mono', minor: true },
  { word: 'how', minor: true, show: ({ provider_id: id }, { t }) => id ?? t('byMail') },
  { key: 'account_id', word: 'account', as: 'copy', minor: true },
  { key: 'granted', as: 'money', places: 2 },
  {
    word: 'state',
    show: ({ state }, { t }) => (
      <StatusBadge tone={state === 'active' ? 'good' : 'bad'} label={t(state)} />
    ),
  },
  { key: 'created_at', word: 'created', as: 'time', minor: true },
]

export function SignUps() {
  const t = useMessages(messages)
  const [search, setSearch] = useState('')
  const query = search === '' ? {} : { search }
  const pages = useAdminPages(KEY, { query })
  const [stopping, setStopping] = useState<Stopping>()
  const acts: RowFields<SignUp, Words> = [
    {
      align: 'right',
      wide: true,
      show: (row) =>
        row.state === 'active' ? (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => setStopping({ name: row.email, body: { id: row.id } })}
            >
              {t('stop')}
            </Button>
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => setStopping({ name: row.network, body: { network: row.network } })}
            >
              {t('stopNetwork')}
            </Button>
          </Group>
        ) : null,
    },
  ]
  return (
    <div>
      {pages.rows.length > 0 || search !== '' ? (
        <TextInput
          label={t('search')}
          mb="sm"
          maw={320}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null}
      <DataTable
        label={t('signUps')}
        pages={pages}
        columns={useColumns(messages, [...FIELDS, ...acts])}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="users" title={t('signUpsEmpty')}>
            {t('signUpsText')}
          </EmptyState>
        }
      />
      <StopDialog stopping={stopping} onClose={() => setStopping(undefined)} />
    </div>
  )
}

interface Stopping {
  readonly name: string
  readonly body: { readonly id: string } | { readonly network: string }
}

interface StopDialogProps {
  readonly stopping: Stopping | undefined
  readonly onClose: () => void
}

function StopDialog({ stopping, onClose }: StopDialogProps) {
  const t = useMessages(messages)
  const stop = useAdminChange('POST /operator/sign-ups/stop')
  return (
    <ConfirmDialog
      isOpen={stopping !== undefined}
      title={t('stopTitle', { name: stopping?.name ?? '' })}
      act={t('stop')}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        if (!stopping) return
        const { stopped } = await stop.mutateAsync({ body: stopping.body })
        notifyDone(t('stoppedDone', { count: stopped }))
      }}
    >
      {t('stopText')}
    </ConfirmDialog>
  )
}
