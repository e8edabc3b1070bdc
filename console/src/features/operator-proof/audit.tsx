/** The audit: each invariant, whether it holds, and what breaks it. */
import { Alert, Box, Button, Stack, Table, Text } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { INVARIANTS_IN_CHINESE } from './invariants-in-chinese.ts'
import { messages } from './messages.ts'

type Result = AdminAnswer<'POST /operator/proof/audit'>

interface AuditProps {
  readonly last: AdminAnswer<'GET /operator/proof'>['last_audit'] | undefined
}

export function Audit({ last }: AuditProps) {
  const t = useMessages(messages)
  const audit = useAdminChange('POST /operator/proof/audit', { refreshes: ['GET /operator/proof'] })
  const run = (
    <Button loading={audit.isPending} onClick={() => audit.mutate({})}>
      {t('run')}
    </Button>
  )
  return (
    <Panel title={t('audit')} aside={run}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('auditText')}
        </Text>
        <Text size="sm" c="dimmed">
          {last ? (
            <>
              {t('lastRun')}
              <TimeText time={last.at} form="relative" />
            </>
          ) : (
            t('never')
          )}
        </Text>
        {audit.error ? <ErrorState error={audit.error} /> : null}
        {audit.data ? <Outcome result={audit.data} /> : null}
      </Stack>
    </Panel>
  )
}

function Outcome({ result }: { readonly result: Result }) {
  const t = useMessages(messages)
  const { ok, checks, milliseconds } = result
  return (
    <Stack gap="sm">
      <Alert
        color={ok ? 'teal' : 'red'}
        icon={<Icon name={ok ? 'shield' : 'warning'} />}
        title={ok ? t('agrees') : t('breaks')}
        role="status"
      >
        {t('ranIn', { count: checks.length, milliseconds })}
      </Alert>
      <Table aria-label={t('audit')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={60}>#</Table.Th>
            <Table.Th>{t('invariant')}</Table.Th>
            <Table.Th>{t('result')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {checks.map((check) => (
            <Check key={check.id} check={check} />
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

function Check({ check }: { readonly check: Result['checks'][number] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { id, title, ok, details } = check
  return (
    <Table.Tr>
      <Table.Td valign="top">{id}</Table.Td>
      <Table.Td valign="top">
        {language === 'zh' ? (INVARIANTS_IN_CHINESE[title] ?? title) : title}
        {details.map(({ subject, found, expected }) => (
          <Box key={subject} fz="xs" c="dimmed" ff="monospace">
            {subject}: {t('found')} {found}, {t('expected')} {expected}
          </Box>
        ))}
      </Table.Td>
      <Table.Td valign="top">
        <StatusBadge
          tone={ok ? 'good' : 'bad'}
          label={ok ? t('holds') : t('broken', { count: details.length })}
        />
      </Table.Td>
    </Table.Tr>
  )
}
