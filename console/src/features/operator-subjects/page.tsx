/** Issuers of tokens, which are part of the catalog, and the subjects that call with them. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { notifyDone, notifyFailed } from '../../components/state/notify.ts'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const SUBJECTS = 'GET /operator/subjects'
type Subject = RowOf<typeof SUBJECTS>
const ISSUERS = 'GET /operator/token-issuers'
type Issuer = RowOf<typeof ISSUERS>
type Words = (typeof messages)['en']

const ISSUER_FIELDS: RowFields<Issuer, Words> = [
  { key: 'id', word: 'issuer' },
  { key: 'issuer', word: 'address', as: 'mono' },
  { key: 'audience' },
  { key: 'account', minor: true },
  { word: 'algorithms', minor: true, show: ({ algorithms }) => algorithms.join(', ') },
  { key: 'source', minor: true },
]

const SUBJECT_FIELDS: RowFields<Subject, Words> = [
  { key: 'subject' },
  { key: 'issuer' },
  { word: 'member', minor: true, show: ({ member }) => member ?? '–' },
  { key: 'account_id', word: 'account', minor: true },
  {
    word: 'state',
    show: ({ state }, { t }) => (
      <StatusBadge tone={state === 'active' ? 'good' : 'bad'} label={t(state)} />
    ),
  },
  { key: 'calls', as: 'count', minor: true },
  { key: 'last_used_at', word: 'lastUsed', as: 'ago', minor: true },
]

export function Page() {
  const t = useMessages(messages)
  const issuers = useAdminPages(ISSUERS, {})
  const pages = useAdminPages(SUBJECTS, {})
  const [stopping, setStopping] = useState<Subject>()
  const disable = useAdminChange('POST /operator/subjects/:key_id/disable')
  const enable = useAdminChange('POST /operator/subjects/:key_id/enable')
  const change = async (subject: Subject) => {
    const act = subject.state === 'active' ? disable : enable
    await act.mutateAsync({ params: { key_id: subject.id } })
    notifyDone(t(subject.state === 'active' ? 'nowDisabled' : 'nowEnabled'))
  }
  const acts: RowFields<Subject, Words> = [
    {
      align: 'right',
      show: (row) => (
        <Button
          variant="subtle"
          size="compact-xs"
          onClick={() =>
            row.state === 'active' ? setStopping(row) : change(row).catch(notifyFailed)
          }
        >
          {t(row.state === 'active' ? 'disable' : 'enable')}
        </Button>
      ),
    },
  ]
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <InOrder gap="lg">
        <DataTable
          label={t('issuers')}
          pages={issuers}
          columns={useColumns(messages, ISSUER_FIELDS)}
          rowId={(row) => row.id}
          empty={
            <EmptyState icon="key" title={t('issuersEmpty')}>
              {t('issuersText')}
            </EmptyState>
          }
        />
        <DataTable
          label={t('subjects')}
          pages={pages}
          columns={useColumns(messages, [...SUBJECT_FIELDS, ...acts])}
          rowId={(row) => row.id}
          empty={<EmptyState icon="users" title={t('subjectsEmpty')} />}
        />
      </InOrder>
      <ConfirmDialog
        isOpen={stopping !== undefined}
        title={t('disableTitle', { subject: stopping?.subject ?? '' })}
        act={t('disable')}
        isDangerous
        onClose={() => setStopping(undefined)}
        onConfirm={async () => {
          if (stopping) await change(stopping)
        }}
      >
        {t('disableText')}
      </ConfirmDialog>
    </>
  )
}
