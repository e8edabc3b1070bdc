/** The list of sign-ups, from which operators stop abuse. */
import { Alert, Button, Checkbox, Stack, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdmin, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/sign-ups'
type SignUp = RowOf<typeof KEY>
type Words = (typeof messages)['en']

/** `nameOf` names a provider by its id. */
const fieldsOf = (nameOf: (id: string) => string): RowFields<SignUp, Words> => [
  { key: 'email' },
  { key: 'network', as: 'mono', minor: true },
  {
    word: 'how',
    minor: true,
    show: ({ provider_id: id }, { t }) => (id ? nameOf(id) : t('byMail')),
  },
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
  const [stopping, setStopping] = useState<SignUp>()
  const offer = useAdmin('GET /session/start', {}).data?.sign_up
  const providers = useAdmin('GET /sign-in/oidc', {}).data?.data
  const isWithoutWay = offer?.by_mail === false && providers?.length === 0
  const known = useAdmin('GET /operator/sign-in-providers', {}).data?.data
  const fields = fieldsOf((id) => known?.find((one) => one.id === id)?.name ?? id)
  const acts: RowFields<SignUp, Words> = [
    {
      align: 'right',
      show: (row) =>
        row.state === 'active' ? (
          <Button variant="subtle" size="compact-xs" onClick={() => setStopping(row)}>
            {t('stop')}
          </Button>
        ) : null,
    },
  ]
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h3">
        {t('signUps')}
      </Title>
      {isWithoutWay ? <Alert color="yellow">{t('signUpNoWay')}</Alert> : null}
      {pages.rows.length > 0 || search !== '' ? (
        <TextInput
          label={t('search')}
          maw={320}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null}
      <DataTable
        label={t('signUps')}
        pages={pages}
        columns={useColumns(messages, [...fields, ...acts])}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="users" title={t('signUpsEmpty')}>
            {t('signUpsText')}
          </EmptyState>
        }
      />
      <StopDialog stopping={stopping} onClose={() => setStopping(undefined)} />
    </Stack>
  )
}

interface StopDialogProps {
  readonly stopping: SignUp | undefined
  readonly onClose: () => void
}

function StopDialog({ stopping, onClose }: StopDialogProps) {
  const t = useMessages(messages)
  const stop = useAdminChange('POST /operator/sign-ups/stop')
  const [isOfAll, setOfAll] = useState(false)
  const close = () => {
    setOfAll(false)
    onClose()
  }
  return (
    <ConfirmDialog
      isOpen={stopping !== undefined}
      title={t('stopTitle', { name: stopping?.email ?? '' })}
      act={t('stop')}
      isDangerous
      onClose={close}
      onConfirm={async () => {
        if (!stopping) return
        const { id, network } = stopping
        const { stopped } = await stop.mutateAsync({ body: isOfAll ? { network } : { id } })
        notifyDone(t('stoppedDone', { count: stopped }))
      }}
    >
      <Stack gap="sm">
        {t('stopText')}
        <Checkbox
          label={t('stopNetwork', { network: stopping?.network ?? '' })}
          checked={isOfAll}
          onChange={(event) => setOfAll(event.currentTarget.checked)}
        />
      </Stack>
    </ConfirmDialog>
  )
}
