/** The running gateway processes, their database and their configuration. */
import { Tabs } from '@mantine/core'
import { PageHeader } from '../../components/page/page-header.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { Database } from './database.tsx'
import { messages } from './messages.ts'
import { Processes } from './processes.tsx'
import { Variables } from './settings.tsx'
import type { System } from './system.ts'

const REFRESH_MS = 10_000
const TABS = ['gateways', 'settings', 'database'] as const
type Tab = (typeof TABS)[number]

export function Page() {
  const t = useMessages(messages)
  const { data, error, refetch } = useAdmin(
    'GET /operator/system',
    {},
    { refetchEveryMs: REFRESH_MS },
  )
  const url = useUrlState(['tab'])
  const tab = TABS.find((one) => one === url.values.tab) ?? TABS[0]
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data ? (
        <Tabs
          value={tab}
          onChange={(chosen) => url.set({ tab: chosen === TABS[0] ? '' : (chosen ?? '') })}
          keepMounted={false}
        >
          <Tabs.List aria-label={t('title')}>
            {TABS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t(one)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab} pt="md">
            <Shown tab={tab} system={data} />
          </Tabs.Panel>
        </Tabs>
      ) : null}
    </>
  )
}

function Shown({ tab, system }: { readonly tab: Tab; readonly system: System }) {
  if (tab === 'settings') return <Variables variables={system.configuration} />
  if (tab === 'database') return <Database database={system.database} />
  return <Processes system={system} />
}
