.stage user
.semaphore 3, 1, 2
.allow E0243
read mutex_acq
srel -, 3
sacq -, 3
mov -, srel3
mov mutex_rel, 0
mov irq, 1
thrend
nop
nop
