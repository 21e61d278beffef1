import { Attackers } from './attackers.ts'
import type { ClientsOrder } from './clients.ts'
import { Viewers } from './viewers.ts'

const order = JSON.parse(process.argv[2] ?? '') as ClientsOrder
const clients = 'attackers' in order ? new Attackers(order.attackers) : new Viewers(order.viewers)
process.on('message', () => process.send?.(clients.counts))
process.on('disconnect', () => process.exit())
process.send?.('ready')
