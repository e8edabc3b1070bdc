/** Invitations of operators that are open, and their withdrawal. */
import { Button, Group, Stack, Title } from '@mantine/core'
import { DataTable } from '../../components/list/data-table.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { notifyFailed } from '../../components/state/notify.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { asPages, useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const LIST = 'GET /operator/invitations'
type Invitation = AdminAnswer<typeof LIST>['data'][number]

export function OpenInvitations() {
  const t = useMessages(messages)
  const pages = asPages(useAdmin(LIST, {}))
  const takeBack = useAdminChange('DELETE /operator/invitations/:invitation_id')
  const withdraw = (id: string) => {
    takeBack.mutate({ params: { invitation_id: id } }, { onError: notifyFailed })
  }
  const fields: RowFields<Invitation, (typeof messages)['en']> = [
    { key: 'email' },
    { key: 'expires_at', word: 'expires', as: 'time' },
    {
      align: 'right',
      wide: true,
      show: ({ id }) => (
        <Group justify="flex-end">
          <Button
            variant="subtle"
            size="compact-xs"
            disabled={takeBack.isPending}
            onClick={() => withdraw(id)}
          >
            {t('withdraw')}
          </Button>
        </Group>
      ),
    },
  ]
  const columns = useColumns(messages, fields)
  if (pages.isPending) return <div aria-busy />
  if (!pages.error && pages.rows.length === 0) return null
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h3">
        {t('invitations')}
      </Title>
      <DataTable
        label={t('invitations')}
        pages={pages}
        columns={columns}
        rowId={(row) => row.id}
        empty={null}
      />
    </Stack>
  )
}
