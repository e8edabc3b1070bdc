/** The database and its tables, the largest first. */
import { Text } from '@mantine/core'
import { Panel } from '../../components/page/panel.tsx'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { FactsTable } from './facts-table.tsx'
import { messages } from './messages.ts'
import type { System } from './system.ts'

export function Database({ database }: { readonly database: System['database'] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { version, bytes, connections, tables, migrations } = database
  const facts = [
    `PostgreSQL ${version}`,
    formatBytes(bytes, language),
    t('connections', { count: connections }),
    t('migrations', { count: migrations.length }),
  ]
  const aside = (
    <Text size="sm" c="dimmed">
      {facts.join(' · ')}
    </Text>
  )
  return (
    <Panel title={t('database')} aside={aside} flush>
      <FactsTable
        label={t('database')}
        head={[t('table'), t('rows'), t('size')]}
        numeric
        rows={tables.map((one) => [
          one.name,
          formatNumber(one.rows, language),
          formatBytes(one.bytes, language),
        ])}
      />
    </Panel>
  )
}
