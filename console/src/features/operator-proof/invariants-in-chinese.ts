/** The invariants of the audit in Chinese, by the words of the gateway. */
export const INVARIANTS_IN_CHINESE: Readonly<Record<string, string>> = {
  'all entries of a currency add up to zero': '同一币种的全部分录合计为零',
  'each balance is the sum of its entries, archived ones included':
    '每个余额等于其全部分录之和，包括已归档的分录',
  'available, held and debt are never negative': '可用、冻结与欠款金额从不为负',
  'held is the sum of the open holds': '冻结金额等于未结冻结之和',
  'each closed hold ended once: its whole amount was moved, and one record explains it':
    '每笔已结束的冻结只结束一次：金额全部转出，并有一条记录说明',
  'a charge is what left the hold plus its overrun, debt and correction entries':
    '扣费等于从冻结中转出的金额，加上超出、欠款与补扣的分录',
  'a correction is the final charge minus the charge when the call was closed as lost':
    '补扣等于最终扣费减去调用被视为丢失时的扣费',
  'a delivery has at most 4 attempts and ends delivered by one or dropped after the last':
    '每次投递最多尝试 4 次：其中一次成功即为已投递，最后一次失败即为已放弃',
  'no acknowledged write is missing: every record and entry has its hold or credit':
    '已确认的写入没有遗漏：每条记录与分录都有对应的冻结或入账',
  'the spend counter that a key shares with its rotations matches their limited calls':
    '密钥与其轮换后的密钥共用的消费计数，等于它们受限调用的合计',
  'each task ends exactly once, together with its hold, and none is forgotten':
    '每个任务与其冻结同时结束且只结束一次，没有遗漏',
  'a failed task costs nothing, except a response whose tokens were used':
    '失败的任务不收费，已消耗 token 的响应除外',
  'a succeeded task has exactly one charge, at the price version of its hold':
    '成功的任务只扣费一次，按冻结时的价格版本',
  'each upstream cost belongs to one task or is recorded as an uncharged cost':
    '每笔上游成本属于一个任务，或记为未向客户收取的成本',
  'stored content belongs to one file, asset or archive, and is not marked for removal':
    '存储的内容属于一个文件、素材或归档，且未标记为待删除',
  'each counter of a budget is the sum of its open holds and of its calls, archived ones too':
    '预算的每项计数等于其未结冻结与调用之和，包括已归档的调用',
  'a price of a list is of one that the account had, and the lines follow from it and the base':
    '所用价目表的价格属于账户当时的价目表，扣费明细由它与基础价格得出',
  'no sealed entry was changed, removed or inserted': '已封存的分录没有被修改、删除或插入',
  'the blocks are one chain that covers every entry once': '区块构成一条链，每笔分录恰好包含一次',
  'each stored checkpoint carries its signature and agrees with its block':
    '每个存储的检查点都有签名，并与其区块一致',
  'the tables of history refuse changes': '历史表拒绝修改',
  'the sums of archived entries and calls are those of their objects':
    '已归档分录与调用的合计与归档文件一致',
  'the calls of verified weeks are as they were verified': '已核对各周的调用与核对时一致',
}
