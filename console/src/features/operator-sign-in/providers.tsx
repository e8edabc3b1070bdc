/** The providers that people sign in with: their state, and what may be done with each. */
import { Button, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { asPages, useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { ProviderForm, type SignInProvider } from './provider-form.tsx'

type Words = (typeof messages)['en']

const FIELDS: RowFields<SignInProvider, Words> = [
  { key: 'name' },
  { key: 'issuer', as: 'mono' },
  { key: 'client_id', word: 'clientId', as: 'mono', minor: true },
  { word: 'state', show: (row, { t, textOf }) => <State row={row} t={t} textOf={textOf} /> },
]

interface StateProps {
  readonly row: SignInProvider
  readonly t: ReturnType<typeof useMessages<Words>>
  readonly textOf: (text: string) => string
}

function State({ row: { disabled, problem }, t, textOf }: StateProps) {
  if (disabled) return <StatusBadge tone="quiet" label={t('off')} />
  if (problem === null) return <StatusBadge tone="good" label={t('works')} />
  return (
    <>
      <StatusBadge tone="bad" label={t('unreachable')} />
      <div>{textOf(problem)}</div>
    </>
  )
}

export function ProviderList({ add }: { readonly add: ReactNode }) {
  const t = useMessages(messages)
  const query = useAdmin('GET /operator/sign-in-providers', {})
  const remove = useAdminChange('DELETE /operator/sign-in-providers/:provider')
  const [editing, setEditing] = useState<SignInProvider>()
  const [removing, setRemoving] = useState<SignInProvider>()
  const acts: RowFields<SignInProvider, Words> = [
    {
      align: 'right',
      wide: true,
      show: (row) =>
        row.from_environment ? (
          t('fromEnvironment')
        ) : (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button variant="subtle" size="compact-xs" onClick={() => setEditing(row)}>
              {t('edit')}
            </Button>
            <Button variant="subtle" size="compact-xs" onClick={() => setRemoving(row)}>
              {t('remove')}
            </Button>
          </Group>
        ),
    },
  ]
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h3">
        {t('providers')}
      </Title>
      <DataTable
        label={t('providers')}
        pages={asPages(query)}
        columns={useColumns(messages, [...FIELDS, ...acts])}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="shield" title={t('emptyTitle')} action={add}>
            {t('emptyText')}
          </EmptyState>
        }
      />
      <ProviderForm
        isOpen={editing !== undefined}
        provider={editing}
        onClose={() => setEditing(undefined)}
      />
      <ConfirmDialog
        isOpen={removing !== undefined}
        title={t('removeTitle', { name: removing?.name ?? '' })}
        act={t('remove')}
        isDangerous
        onClose={() => setRemoving(undefined)}
        onConfirm={async () => {
          if (removing) await remove.mutateAsync({ params: { provider: removing.id } })
          notifyDone(t('removed'))
        }}
      >
        {t('removeText')}
      </ConfirmDialog>
    </Stack>
  )
}
