/** Texts of the system page. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'System',
    description: 'The running gateways, their database and their configuration.',
    node: 'Node',
    site: 'Site',
    started: 'Started',
    ready: 'Ready',
    notReady: 'Not ready',
    memory: 'Memory',
    inFlight: 'Calls in flight',
    filesApart: 'Gateways keep files in different places',
    filesApartHelp:
      'They cannot serve each other’s files, so only the gateways of one place accept files; ' +
      'the others answer uploads with 503. Give all of them the same S3_ENDPOINT and ' +
      'S3_BUCKET, or a shared folder at DATA_DIR/files.',
    gateways: 'Gateways',
    alive: 'Alive',
    ended: 'Ended',
    thisOne: 'this one',
    database: 'Database',
    connections: '{count} connections',
    migrations: '{count} migrations',
    table: 'Table',
    rows: 'Rows (approx.)',
    settings: 'Settings',
    searchSettings: 'Search the settings',
    onlyChanged: 'Changed only',
    defaultIs: 'Default: {value}',
    shownOf: '{count} of {all}',
    allDefault: 'Every setting has its default',
  },
  {
    ...words.zh,
    title: '系统',
    description: '正在运行的网关、数据库与配置。',
    node: 'Node',
    site: '站点',
    started: '启动时间',
    ready: '就绪',
    notReady: '未就绪',
    memory: '内存',
    inFlight: '进行中的调用',
    filesApart: '各网关的文件存放在不同位置',
    filesApartHelp:
      '它们无法提供彼此的文件，因此只有一个位置的网关接收文件，其他网关对上传返回 503。' +
      '请为所有网关设置相同的 S3_ENDPOINT 和 S3_BUCKET，或让 DATA_DIR/files 指向同一个共享目录。',
    gateways: '网关',
    alive: '运行中',
    ended: '已结束',
    thisOne: '当前',
    database: '数据库',
    connections: '{count} 个连接',
    migrations: '{count} 个迁移',
    table: '表',
    rows: '行数（约）',
    settings: '设置',
    searchSettings: '搜索设置',
    onlyChanged: '仅显示已更改',
    defaultIs: '默认值：{value}',
    shownOf: '{count} / {all}',
    allDefault: '所有设置均为默认值',
  },
)
