/** Members of the account; owners invite, change and remove them. */
import { ActionIcon, Badge, Group, Menu, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Icon } from '../../../components/icon.tsx'
import { TextFilter } from '../../../components/list/filters.tsx'
import { Panel } from '../../../components/page/panel.tsx'
import { ErrorState } from '../../../components/state/error-state.tsx'
import { notifyFailed } from '../../../components/state/notify.ts'
import type { AdminAnswer } from '../../../lib/api.ts'
import { useMessages } from '../../../lib/i18n.tsx'
import { ASSIGNABLE_ROLES, type Selected } from '../../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../../lib/use-admin.ts'
import { messages } from '../messages.ts'
import { SettingRow } from '../row.tsx'
import { SmallButton } from '../small-button.tsx'
import { Invitations } from './invitations.tsx'
import { InviteMember } from './invite-member.tsx'

type Member = AdminAnswer<'GET /accounts/:account_id/members'>['data'][number]

/** Members that are shown at once. */
const STEP = 50

export function Members({ account }: { readonly account: Selected }) {
  const t = useMessages(messages)
  const { data, error, isPending, refetch } = useAdmin('GET /accounts/:account_id/members', {
    params: { account_id: account.id },
  })
  const [isInviting, setInviting] = useState(false)
  const [search, setSearch] = useState('')
  const [most, setMost] = useState(STEP)
  const members = data?.data ?? []
  const found = members.filter((member) => isNamed(member, search))
  const invite = account.isOwner ? (
    <SmallButton onClick={() => setInviting(true)}>{t('invite')}</SmallButton>
  ) : undefined
  return (
    <Panel title={t('members')} aside={invite} isPending={isPending}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('rolesText')}
      </Text>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {members.length > STEP ? (
        <TextFilter label={t('findMember')} value={search} onChange={setSearch} />
      ) : null}
      {found.slice(0, most).map((member) => (
        <SettingRow key={member.id} title={member.name || member.email} text={member.email}>
          <Marks member={member} />
          {account.isOwner ? <MemberMenu member={member} accountId={account.id} /> : null}
        </SettingRow>
      ))}
      {found.length > most ? (
        <SmallButton mt="xs" onClick={() => setMost(most + STEP)}>
          {t('moreMembers', { count: found.length - most })}
        </SmallButton>
      ) : null}
      {account.isOwner ? <Invitations accountId={account.id} /> : null}
      <InviteMember isOpen={isInviting} accountId={account.id} onClose={() => setInviting(false)} />
    </Panel>
  )
}

function isNamed({ name, email }: Member, search: string): boolean {
  return `${name} ${email}`.toLowerCase().includes(search.toLowerCase())
}

function Marks({ member }: { readonly member: Member }) {
  const t = useMessages(messages)
  return (
    <Group gap={4} wrap="nowrap">
      {member.disabled ? <Badge color="red.8">{t('locked')}</Badge> : null}
      {member.second_factor ? (
        <Badge variant="default" visibleFrom="sm">
          {t('factorOn')}
        </Badge>
      ) : null}
      <Badge variant="default">{t(member.role)}</Badge>
    </Group>
  )
}

interface MemberMenuProps {
  readonly member: Member
  readonly accountId: string
}

function MemberMenu({ member, accountId }: MemberMenuProps) {
  const t = useMessages(messages)
  const [isLeaving, setLeaving] = useState(false)
  const change = useAdminChange('PATCH /accounts/:account_id/members/:user_id')
  const remove = useAdminChange('DELETE /accounts/:account_id/members/:user_id')
  const params = { account_id: accountId, user_id: member.id }
  const name = member.name || member.email
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            loading={change.isPending}
            aria-label={t('actions', { name })}
          >
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('role')}</Menu.Label>
          {ASSIGNABLE_ROLES.filter((role) => role !== member.role).map((role) => (
            <Menu.Item
              key={role}
              onClick={() => change.mutate({ params, body: { role } }, { onError: notifyFailed })}
            >
              {t(role)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setLeaving(true)}>{t('removeMember')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={isLeaving}
        title={t('removeMemberTitle', { name })}
        act={t('removeMember')}
        isDangerous
        onConfirm={() => remove.mutateAsync({ params })}
        onClose={() => setLeaving(false)}
      >
        {t('removeMemberText')}
      </ConfirmDialog>
    </>
  )
}
