/** Menu that selects the account of the customer pages; a plain name if there is only one. */
import { Button, Menu, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Icon } from '../../components/icon.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { messages } from '../messages.ts'
import { useAccountName } from './use-account-name.ts'

export function AccountSwitcher() {
  const t = useMessages(messages)
  const { session, account, select } = useSession()
  const name = useAccountName()
  const navigate = useNavigate()
  if (!account) return null
  const { memberships } = session
  const isForeign = !memberships.some(({ account_id }) => account_id === account.id)
  if (memberships.length + (isForeign ? 1 : 0) < 2) {
    return (
      <Text size="sm" c="dimmed" truncate>
        {name}
      </Text>
    )
  }
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          rightSection={<Icon name="down" size={14} />}
          aria-label={`${t('switchAccount')}: ${name}`}
        >
          <Text size="sm" truncate maw={180} component="span">
            {name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {memberships.map(({ account_id, account_name }) => (
          <Menu.Item
            key={account_id}
            rightSection={account_id === account.id ? <Icon name="check" size={14} /> : null}
            onClick={() => {
              select({ id: account_id, name: account_name })
              void navigate({ to: '.', search: {} })
            }}
          >
            <AccountName id={account_id} name={account_name} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
