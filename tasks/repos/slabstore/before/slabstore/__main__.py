from slabstore.shell import main

raise SystemExit(main())
