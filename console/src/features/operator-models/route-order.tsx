/** The order in which routes are tried, and what gives each its place. */
import { Text } from '@mantine/core'
import { MoneyText } from '../../components/text/money-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface RouteOrderProps {
  readonly model: Pick<
    AdminAnswer<'GET /operator/models/:model_id'>,
    'currency' | 'routing' | 'route_order'
  >
}

export function RouteOrder({ model }: RouteOrderProps) {
  const t = useMessages(messages)
  const { currency, routing, route_order: routes } = model
  return (
    <>
      {t(`routing_${routing}`)}
      <ol style={{ margin: 0, paddingInlineStart: 20 }}>
        {routes.map(({ channel, upstream_model: name, expected_cost: cost, because, ...route }) => (
          <li key={`${channel} ${name}`}>
            {channel}{' '}
            <Text component="span" size="xs" c="dimmed">
              {name} · {t(`because_${because}`)}
              {cost === null ? null : (
                <>
                  {' · '}
                  <MoneyText amount={cost} currency={currency ?? 'CNY'} places="exact" />{' '}
                  {t('usualCall')}
                </>
              )}
              {route.is_usable ? null : ` · ${t('unusable')}`}
            </Text>
          </li>
        ))}
      </ol>
    </>
  )
}
