/** Settings of the user's sign-in and of the account. */
import { SimpleGrid } from '@mantine/core'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { AccountSection } from './account-section.tsx'
import { Factors } from './factors.tsx'
import { Linked } from './linked.tsx'
import { Members } from './members/members.tsx'
import { messages } from './messages.ts'
import { Profile } from './profile.tsx'
import { SessionsTable } from './sessions.tsx'
import { OwnTokens } from './tokens.tsx'

export function Page() {
  const t = useMessages(messages)
  const { account } = useSession()
  return (
    <>
      <PageHeader title={t('title')} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <InOrder>
          <Profile />
          <Factors />
          <Linked />
          <OwnTokens />
        </InOrder>
        <InOrder>
          {account ? (
            <>
              <AccountSection account={account} />
              <Members account={account} />
            </>
          ) : null}
          <SessionsTable />
        </InOrder>
      </SimpleGrid>
    </>
  )
}
