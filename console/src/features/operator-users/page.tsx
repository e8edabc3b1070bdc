/** All users: lock, unlock, and links for a new password. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { AllTokens } from './tokens.tsx'

const LIST = 'GET /operator/users'
type User = RowOf<typeof LIST>

export function Page() {
  const t = useMessages(messages)
  const pages = useAdminPages(LIST, {})
  const [confirming, setConfirming] = useState<{
    readonly user: User
    readonly act: 'lock' | 'reset'
  }>()
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<string>()
  const invite = <Button onClick={() => setInviting(true)}>{t('invite')}</Button>
  const close = () => setConfirming(undefined)
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={invite} />
      <InOrder gap="lg">
        <DataTable
          label={t('title')}
          pages={pages}
          columns={useColumns((user, act) => setConfirming({ user, act }))}
          rowId={(row) => row.id}
          empty={<EmptyState icon="users" title={t('emptyTitle')} action={invite} />}
        />
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

function useColumns(onAct: (user: User, act: 'lock' | 'reset') => void): Column<User>[] {
  const t = useMessages(messages)
  return [
    { key: 'name', header: t('name'), render: (row) => row.name },
    { key: 'email', header: t('email'), render: (row) => row.email, minor: true },
    { key: 'role', header: t('role'), render: (row) => t(row.operator ? 'operator' : 'customer') },
    {
      key: 'factor',
      header: t('factor'),
      render: (row) => (
        <StatusBadge
          tone={row.second_factor ? 'good' : 'quiet'}
          label={t(row.second_factor ? 'on' : 'off')}
        />
      ),
      minor: true,
    },
    {
      key: 'state',
      header: t('state'),
      render: (row) =>
        row.disabled ? (
          <StatusBadge tone="bad" label={t('locked')} />
        ) : (
          <WorkStatus status="active" />
        ),
    },
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
      minor: true,
    },
    {
      key: 'acts',
      header: '',
      // Operators can only be changed on the command line.
      render: (row) =>
        row.operator ? null : (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button variant="subtle" size="compact-xs" onClick={() => onAct(row, 'reset')}>
              {t('reset')}
            </Button>
            <Button variant="subtle" size="compact-xs" onClick={() => onAct(row, 'lock')}>
              {t(row.disabled ? 'unlock' : 'lock')}
            </Button>
          </Group>
        ),
      align: 'right',
      wide: true,
    },
  ]
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
  const invite = useAdminChange('POST /operator/invitations', { refreshes: [] })
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
