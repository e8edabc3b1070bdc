/** All users: lock, unlock, and links for a new password. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { OpenInvitations } from './invitations.tsx'
import { messages } from './messages.ts'
import { AllTokens } from './tokens.tsx'

const LIST = 'GET /operator/users'
type User = RowOf<typeof LIST>

const FIELDS: RowFields<User, (typeof messages)['en']> = [
  { key: 'name' },
  { key: 'email', minor: true },
  { word: 'role', show: ({ operator }, { t }) => t(operator ? 'operator' : 'customer') },
  {
    word: 'factor',
    minor: true,
    show: ({ second_factor: isOn }, { t }) => (
      <StatusBadge tone={isOn ? 'good' : 'quiet'} label={t(isOn ? 'on' : 'off')} />
    ),
  },
  {
    word: 'state',
    show: ({ disabled }, { t }) =>
      disabled ? <StatusBadge tone="bad" label={t('locked')} /> : <WorkStatus status="active" />,
  },
  { key: 'created_at', word: 'created', as: 'time', minor: true },
]

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['search'])
  const pages = useAdminPages(LIST, { query: asQuery(LIST, list.filters) }, { keepPrevious: true })
  const [confirming, setConfirming] = useState<{
    readonly user: User
    readonly act: 'lock' | 'reset'
  }>()
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<string>()
  const acts: RowFields<User, (typeof messages)['en']> = [
    {
      align: 'right',
      wide: true,
      // Operators can only be changed on the command line.
      show: (user) =>
        user.operator ? null : (
          <Acts isLocked={user.disabled} onAct={(act) => setConfirming({ user, act })} />
        ),
    },
  ]
  const invite = <Button onClick={() => setInviting(true)}>{t('invite')}</Button>
  const close = () => setConfirming(undefined)
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={invite} />
      <ListFilters messages={messages} list={list} filters={[{ name: 'search', word: 'search' }]} />
      <InOrder gap="lg">
        <DataTable
          label={t('title')}
          pages={pages}
          columns={useColumns(messages, [...FIELDS, ...acts])}
          rowId={(row) => row.id}
          empty={
            <FilteredEmpty
              icon="users"
              isFiltered={list.isFiltered}
              onClear={list.clearFilters}
              title={t('emptyTitle')}
              action={invite}
            />
          }
        />
        <OpenInvitations />
        <AllTokens />
      </InOrder>
      <LockDialog user={confirming?.act === 'lock' ? confirming.user : undefined} onClose={close} />
      <ResetDialog
        user={confirming?.act === 'reset' ? confirming.user : undefined}
        onClose={close}
        onLink={setLink}
      />
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} onLink={setLink} />
      <Dialog
        isOpen={link !== undefined}
        title={t('link')}
        isSticky
        onClose={() => setLink(undefined)}
      >
        <Stack gap="sm">
          <Text size="sm">{t('linkText')}</Text>
          <CopyText value={link ?? ''} />
          <Group justify="flex-end">
            <Button onClick={() => setLink(undefined)}>{t('done')}</Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}

interface ActsProps {
  readonly isLocked: boolean
  readonly onAct: (act: 'lock' | 'reset') => void
}

function Acts({ isLocked, onAct }: ActsProps) {
  const t = useMessages(messages)
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button variant="subtle" size="compact-xs" onClick={() => onAct('reset')}>
        {t('reset')}
      </Button>
      <Button variant="subtle" size="compact-xs" onClick={() => onAct('lock')}>
        {t(isLocked ? 'unlock' : 'lock')}
      </Button>
    </Group>
  )
}

interface UserDialogProps {
  readonly user: User | undefined
  readonly onClose: () => void
}

function LockDialog({ user, onClose }: UserDialogProps) {
  const t = useMessages(messages)
  const change = useAdminChange('PATCH /operator/users/:user_id')
  const isLocked = user?.disabled ?? false
  const act = t(isLocked ? 'unlock' : 'lock')
  return (
    <ConfirmDialog
      isOpen={user !== undefined}
      title={`${act}: ${user?.email ?? ''}`}
      act={act}
      isDangerous={!isLocked}
      onClose={onClose}
      onConfirm={async () => {
        if (!user) return
        await change.mutateAsync({ params: { user_id: user.id }, body: { disabled: !isLocked } })
      }}
    >
      {t(isLocked ? 'unlockText' : 'lockText')}
    </ConfirmDialog>
  )
}

interface LinkProps {
  readonly onLink: (link: string) => void
}

function ResetDialog({ user, onClose, onLink }: UserDialogProps & LinkProps) {
  const t = useMessages(messages)
  const reset = useAdminChange('POST /operator/users/:user_id/reset', { refreshes: [] })
  return (
    <ConfirmDialog
      isOpen={user !== undefined}
      title={`${t('reset')}: ${user?.email ?? ''}`}
      act={t('reset')}
      onClose={onClose}
      onConfirm={async () => {
        if (!user) return
        onLink((await reset.mutateAsync({ params: { user_id: user.id } })).link)
      }}
    >
      {t('resetText')}
    </ConfirmDialog>
  )
}

interface InviteDialogProps extends LinkProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

function InviteDialog({ isOpen, onClose, onLink }: InviteDialogProps) {
  const t = useMessages(messages)
  const invite = useAdminChange('POST /operator/invitations', {
    refreshes: ['GET /operator/invitations'],
  })
  return (
    <Dialog isOpen={isOpen} title={t('invite')} onClose={onClose}>
      <Text size="sm" c="dimmed" mb="sm">
        {t('inviteText')}
      </Text>
      <SubmitForm
        act={t('invite')}
        onCancel={onClose}
        onSend={async ({ email = '' }) => {
          const invitation = await invite.mutateAsync({ body: { email } })
          onClose()
          onLink(invitation.link)
        }}
      >
        <TextInput
          name="email"
          type="email"
          label={t('email')}
          required
          maxLength={254}
          data-autofocus
        />
      </SubmitForm>
    </Dialog>
  )
}
